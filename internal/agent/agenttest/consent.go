package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// cannot skips a check of an agent that acts by its own means, if its options say why, and
// fails one that says neither how nor why not.
func (o Options) cannot(tb testing.TB, check string) {
	tb.Helper()
	switch why := o.Cannot[check]; {
	case o.Write == nil:
		tb.Skip("this backend's agents do everything through the session's tools")
	case why == "":
		tb.Fatalf("the options say neither how the agent does this nor, in Cannot[%q], why it cannot",
			check)
	default:
		tb.Skip("this backend's agents do not: " + why)
	}
}

// denying has the host deny what it is asked for.
func denying(h *Host) {
	h.Permit = func(agent.Permission) agent.Verdict {
		return agent.Verdict{Decision: event.Deny, Reason: "not now", By: event.DecidedByUser}
	}
}

// An act on two files, one of them outside the workspace, is asked about once, with both.
func checkWriteTwo(tb testing.TB, b agent.Backend, o Options) {
	if o.WriteTwo == nil {
		o.cannot(tb, "WriteTwo")
		return
	}
	o.Workspace = o.workspace(tb)
	files := []string{filepath.Join(o.Workspace, "inside.txt"),
		filepath.Join(tb.TempDir(), "outside.txt")}
	r := open(tb, b, o, denying)
	defer r.close()
	r.prompt(o.WriteTwo(files[0], files[1]))
	asked := r.host.Asked()
	if len(asked) != 1 {
		tb.Errorf("it asked %d times about one act, want once", len(asked))
	}
	for _, file := range files {
		about := func(p agent.Permission) bool {
			return p.Kind == agent.KindWrite && o.absolute(p.Resource) == file
		}
		if !slices.ContainsFunc(asked, func(p agent.Permission) bool {
			return slices.ContainsFunc(p.Parts(), about)
		}) {
			tb.Errorf("it did not ask to write %s, only %+v", file, asked)
		}
		if _, err := os.Stat(file); err == nil {
			tb.Errorf("denied, the agent wrote %s all the same", file)
		}
	}
}

func (o Options) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Workspace, path)
	}
	return filepath.Clean(path)
}

// A search of a folder with a sensitive file says what it looks for, so that it can be
// judged, or shows nothing of that file.
func checkSearch(tb testing.TB, b agent.Backend, o Options) {
	if o.Search == nil {
		o.cannot(tb, "Search")
		return
	}
	o.Workspace = o.workspace(tb)
	const secret = "agenttest-4be1d0"
	if err := os.WriteFile(filepath.Join(o.Workspace, ".env"), []byte("KEY="+secret+"\n"),
		0o600); err != nil {
		tb.Fatal(err)
	}
	r := open(tb, b, o, denying)
	defer r.close()
	r.prompt(o.Search("KEY", o.Workspace))
	for _, p := range r.host.Asked() {
		for _, part := range p.Parts() {
			if part.Search == nil && !part.Sensitive {
				tb.Errorf("it asked to search and did not say for what: %+v", part)
			}
		}
	}
	for _, d := range r.host.Events() {
		if text := fmt.Sprintf("%+v", d); strings.Contains(text, secret) {
			tb.Errorf("it showed the sensitive file without being allowed to: %s", event.TypeOf(d))
		}
		if d, ok := d.(event.ToolExecutionComplete); ok && d.Result != nil &&
			strings.Contains(d.Result.Content+d.Result.DetailedContent, secret) {
			tb.Errorf("a call showed the sensitive file without being allowed to")
		}
	}
}

// A call that only looks like one of the session's tools is asked about and shown.
func checkForge(tb testing.TB, b agent.Backend, o Options) {
	if o.Forge == nil {
		o.cannot(tb, "Forge")
		return
	}
	r := open(tb, b, o, denying)
	defer r.close()
	r.prompt(o.Forge("run_and_display"))
	if n := len(r.host.Asked()); n == 0 {
		tb.Errorf("a call that looks like one of the session's tools was not asked about")
	}
	if n := len(r.host.Calls()); n > 0 {
		tb.Errorf("the forged call reached the session's tools %d times", n)
	}
	shown := slices.ContainsFunc(r.host.Events(), func(d event.Data) bool {
		_, is := d.(event.ToolExecutionStart)
		return is
	})
	if !shown {
		tb.Errorf("a call that looks like one of the session's tools was not shown")
	}
}
