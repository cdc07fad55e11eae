package agenttest

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/contain"
)

// faults are where a host panics, upon which prompt, for what handles an agent's words to
// panic there.
var faults = []struct {
	at     string // how a call of the host begins
	prompt func(o Options, path string) string
	// through says that the panic has to end the turn with an error: others may end a
	// call only.
	through bool
}{
	{"Report of assistant.", func(o Options, _ string) string { return o.Answer }, true},
	{"Report of assistant.message", func(o Options, _ string) string { return o.Talk }, true},
	{"Report of tool.execution_start", acting, true},
	{"Report of tool.execution_complete", acting, true},
	{"AskPermission", acting, false},
	{"RunHook", acting, false},
	{"CallTool", func(o Options, _ string) string { return o.Show("go.mod") }, false},
	{"AskUser", func(o Options, _ string) string { return o.Ask }, false},
}

func acting(o Options, path string) string {
	if o.Write == nil {
		return ""
	}
	return o.Write(path)
}

const secret = "swordfish"

// checkContained has what handles the agent's words panic. That ends this conversation,
// with an error for people, and neither the program nor another conversation.
func checkContained(tb testing.TB, b agent.Backend, o Options) {
	o.Workspace = o.workspace(tb)
	other := open(tb, b, o, nil)
	defer other.close()
	for i, f := range faults {
		hit := make(chan struct{}, 1000)
		r := open(tb, b, o, func(h *Host) {
			h.Fault = func(what string) {
				if strings.HasPrefix(what, f.at) {
					select {
					case hit <- struct{}{}:
					default:
					}
					panic(secret)
				}
			}
		})
		// after the start, at which an agent may ask its model, too
		prompt := f.prompt(o, filepath.Join(o.Workspace, fmt.Sprintf("written%d.txt", i)))
		if prompt == "" {
			r.close()
			continue
		}
		ended := r.start(tb.Context(), prompt)
		err := r.inTime("Prompt, after a panic at "+f.at+",", func() error { return <-ended })
		switch {
		case len(hit) == 0:
			if f.at != "RunHook" { // some have none
				tb.Errorf("nothing panicked at %s", f.at)
			}
		case err == nil && f.through:
			tb.Errorf("Prompt returned nil after a panic at %s", f.at)
		case err != nil && !errors.Is(err, agent.ErrDied) && !errors.Is(err, contain.ErrPanic):
			tb.Errorf("Prompt returned %v after a panic at %s: the conversation would be used again", err,
				f.at)
		case err != nil && strings.Contains(err.Error(), secret):
			tb.Errorf("after a panic at %s the user reads %q", f.at, err)
		}
		if err := r.inTime("Close, after a panic at "+f.at+",", r.conn.Close); err != nil {
			tb.Errorf("Close, after a panic at %s: %v", f.at, err)
		}
		r.host.Closed()
		for _, broken := range r.host.Broken() {
			if strings.Contains(broken, "after Close") { // what it left open the session ends
				tb.Errorf("broken rule: %s", broken)
			}
		}
		other.mustAnswer(o, "after another conversation's panic at "+f.at)
	}
}

// contained calls f as a session does, which no panic leaves.
func contained(f func() error) error {
	_, err := contain.Call(slog.New(slog.DiscardHandler), "the agent", func() (struct{}, error) {
		return struct{}{}, f()
	})
	return err
}
