package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"webchat/internal/canary/scripted"
	"webchat/internal/e2e/ports"
	"webchat/internal/event"
	"webchat/internal/proc"
)

// act is one call of a tool, and what may come of it where it is confined.
type act struct {
	tool    string
	args    json.RawMessage
	asks    string // what is asked about it; empty: nothing
	refused bool   // its result is another one
	differs bool   // its result may be another one
	small   bool   // it is of the small day, too
	cli     bool   // it is the Copilot CLI's only
}

// aDay are the errands of testdata/day.txtar. names replaces what stands for names of this run.
func aDay(t *testing.T, text string, names *strings.Replacer) (errands [][]act) {
	t.Helper()
	errands = append(errands, nil)
	for line := range strings.Lines(text) {
		line = names.Replace(strings.TrimSuffix(line, "\n"))
		last := len(errands) - 1
		mark, marks := strings.CutPrefix(line, "\t")
		word, rest, _ := strings.Cut(mark, " ")
		var args any
		switch {
		case marks:
			errands[last][len(errands[last])-1].mark(t, word, rest)
			continue
		case word == "#":
			continue
		case line == "":
			errands = append(errands, nil)
			continue
		case word == "$":
			word, args = "bash", map[string]any{"command": rest, "description": "work", "initial_wait": 600}
		case word == "show":
			word, args = "render_file_contents", map[string]string{"path": rest}
		default:
			args = json.RawMessage(rest)
		}
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		errands[last] = append(errands[last], act{tool: word, args: b})
	}
	return errands
}

// mark adds to an act what stands below it.
func (a *act) mark(t *testing.T, word, rest string) {
	switch word {
	case "asks":
		a.asks = rest
	case "refused":
		a.refused = true
	case "differs":
		a.differs = true
	case "cli":
		a.cli = true
	case "small":
		a.small = true
	case ">":
		var args map[string]any
		if err := json.Unmarshal(a.args, &args); err != nil {
			t.Fatal(err)
		}
		args["command"] = fmt.Sprint(args["command"], "\n", rest)
		a.args, _ = json.Marshal(args) // of texts
	default:
		t.Fatalf("nothing is known of %q", word)
	}
}

// worker is an agent that works for a day.
type worker struct {
	begin func(t *testing.T, model string) (flags, env []string)
	call  func(act) (own act, ok bool) // an act by its own tools; false: it has no such tool
}

var theCLI = worker{func(_ *testing.T, model string) (flags, env []string) {
	return []string{"--backend", "copilot", "--copilot-path", realCopilot, "--provider-url",
		model + "/v1", "--model", "fake-1"}, nil
}, func(a act) (act, bool) { return a, true }}

var claude = worker{func(t *testing.T, model string) (flags, env []string) {
	bin := installed(t, cached("agents", "node_modules", ".bin"), "claude")
	return []string{"--backend", "claude"}, []string{"ANTHROPIC_BASE_URL=" + model,
		"ANTHROPIC_API_KEY=none", "PATH=" + bin}
}, func(a act) (act, bool) {
	var args map[string]any
	_ = json.Unmarshal(a.args, &args) // they were marshalled
	switch a.tool {
	case "bash":
		a.tool, args = "Bash", map[string]any{"command": args["command"], "description": "work",
			"timeout": 600_000, "run_in_background": args["mode"] == "async"}
	case "create":
		a.tool, args = "Write", map[string]any{"file_path": args["path"], "content": args["file_text"]}
	case "edit":
		a.tool, args = "Edit", map[string]any{"file_path": args["path"],
			"old_string": args["old_str"], "new_string": args["new_str"]}
	}
	a.args, _ = json.Marshal(args) // of texts and numbers
	return a, !a.cli
}}

// day is a day's work for a user who answers with the widest grant.
type day struct {
	*program
	t       *testing.T
	base    string // of the workspace and the user's folder
	path    string // of the session
	events  *bufio.Scanner
	names   *strings.Replacer
	done    []act
	asked   []string
	results []string
}

// startDay starts a program in a repository of its own, with a session whose agent is a worker,
// which does what model plays. It ends with the test.
func startDay(t *testing.T, w worker,
	more ...string) (d *day, model *scripted.Model, a *txtar.Archive) {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "day") // in /tmp, it would be in what is apart
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if a, err = txtar.ParseFile("testdata/day.txtar"); err != nil {
		t.Fatal(err)
	}
	if model, err = scripted.New(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	flags, env := w.begin(t, model.URL())
	env = plantTheirs(t, base, a.Files[1:], env)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := prepare(t, self, env, append(flags, more...)...)
	p.workspace = base + "/ws"
	p.start(t)
	var one struct{ ID string }
	p.request(t, "POST", "/api/sessions", "{}", &one)
	d = &day{program: p, t: t, base: base, path: "/api/sessions/" + one.ID}
	d.names = strings.NewReplacer(base, "BASE")
	d.stream()
	return d, model, a
}

// runDay has a worker run errands in a repository of its own.
func runDay(t *testing.T, w worker, sandbox, port string, pick func(act) bool) *day {
	t.Helper()
	d, model, a := startDay(t, w, "--sandbox", sandbox)
	defer d.stop(t)
	names := strings.NewReplacer("WS", d.base+"/ws", "HOME", d.base+"/home", "PORT", port)
	for _, errand := range aDay(t, string(a.Files[0].Data), names) {
		var steps []scripted.Step
		for _, a := range errand {
			if a, ok := w.call(a); ok && pick(a) {
				d.done = append(d.done, a)
				steps = append(steps, scripted.Step{Tool: a.tool, Arguments: string(a.args)})
			}
		}
		if len(steps) > 0 {
			model.Play(steps...)
			d.errand()
		}
	}
	return d
}

// errand has the worker do what the model plays.
func (d *day) errand() {
	d.t.Helper()
	d.request(d.t, "POST", d.path+"/messages", `{"content":"go on"}`, nil)
	d.follow()
}

// plantTheirs plants the user's folders, and returns their environment, whose PATH has the system's
// own programs. What Go needs of its cache is in it.
func plantTheirs(t *testing.T, base string, files []txtar.File, more []string) (env []string) {
	t.Helper()
	for _, f := range files {
		name := filepath.Join(base, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := ""
	for _, v := range more {
		if bin, ok := strings.CutPrefix(v, "PATH="); ok {
			path = bin + ":"
		}
	}
	for _, name := range []string{"go", "node"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		path += filepath.Dir(at) + ":"
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	env = append(more, "GORACE=atexit_sleep_ms=0", "HOME="+base+"/home",
		"GOCACHE="+strings.TrimSpace(string(cache)), "PATH="+path+"/usr/local/bin:/usr/bin:/bin",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	for _, line := range []string{"git init -q", "git add -A", "git commit -qm one",
		"git init -q --bare ../remote.git"} {
		args := strings.Fields(line)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = base+"/ws", append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return env
}

// stream opens the session's stream of events. It ends when a day takes too long.
func (d *day) stream() {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 15*time.Minute)
	d.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+d.address+d.path+"/events", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { res.Body.Close() })
	d.events = bufio.NewScanner(res.Body)
	d.events.Buffer(nil, 8<<20)
}

// follow answers what is asked until the turn ends.
func (d *day) follow() {
	d.t.Helper()
	for d.events.Scan() {
		text, ok := strings.CutPrefix(d.events.Text(), "data: ")
		if !ok {
			continue
		}
		e, err := event.Unmarshal([]byte(text))
		if err != nil {
			d.t.Fatal(err)
		}
		switch data := e.Data.(type) {
		case event.PermissionRequested:
			d.answer(data)
		case event.ToolExecutionComplete:
			text := fmt.Sprint("failed: ", data.Error)
			if data.Result != nil {
				text = data.Result.Content
			}
			d.results = append(d.results, d.names.Replace(text))
		case event.TurnEnd:
			return
		}
	}
	d.t.Fatalf("an errand does not end: %v; asked %q, results %q", d.events.Err(), d.asked, d.results)
}

// answer allows the most, if nothing else decided.
func (d *day) answer(q event.PermissionRequested) {
	answer := `{"decision":"allow"}`
	if g := len(q.Grants); g > 0 {
		answer = fmt.Sprintf(`{"decision":"allow","scope":"session","grant":%q}`, q.Grants[g-1].ID)
	} else if q.Kind == event.KindHost {
		answer = `{"decision":"allow","scope":"session"}`
	}
	if d.request(d.t, "POST", d.path+"/permissions/"+q.RequestID, answer, nil) == http.StatusOK {
		d.asked = append(d.asked, q.Kind+" "+q.Resource)
	}
}

// asksOnly compares what was asked with what the acts may ask.
func (d *day) asksOnly(t *testing.T) {
	t.Helper()
	var want []string
	for _, a := range d.done {
		if a.asks != "" {
			want = append(want, a.asks)
		}
	}
	if !slices.Equal(d.asked, want) || len(want) > 6 {
		t.Errorf("asked %q, not %q", d.asked, want)
	}
}

var took = regexp.MustCompile(`\d+(\.\d+)? ?(m?s|ns/op)\b`)

// sameAs compares results with those of the same day when nothing was confined.
func (d *day) sameAs(t *testing.T, plain *day) {
	t.Helper()
	if len(plain.results) != len(d.done) || len(d.results) != len(d.done) {
		t.Fatalf("%d acts, %d results, %d of them confined: %q", len(d.done), len(plain.results),
			len(d.results), d.results)
	}
	for i, a := range d.done {
		x := took.ReplaceAllString(plain.results[i], "TIME")
		y := took.ReplaceAllString(d.results[i], "TIME")
		if !a.differs && (x != y) != a.refused {
			t.Errorf("%s %s\nnot confined:\n%s\nconfined:\n%s", a.tool, a.args, x, y)
		}
	}
	t.Logf("soak: a day of %d acts asks %d times; confined %d: %q", len(d.done), len(plain.asked),
		len(d.asked), d.asked)
}

// A day of the real Copilot CLI, confined, asks about a secret, a path outside, a host and what is
// held, and nothing else.
func TestRealConfinedDay(t *testing.T) {
	t.Parallel()
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	runDay(t, theCLI, "require", "1", func(a act) bool { return a.small }).asksOnly(t)
}

// A whole day comes to what it comes to when nothing is confined, but for what is refused and what
// lists the machine.
func TestSoakConfinedDay(t *testing.T) {
	port, every := soakedDay(t)
	plain := runDay(t, theCLI, "off", port, every)
	confined := runDay(t, theCLI, "require", port, every)
	confined.asksOnly(t)
	confined.sameAs(t, plain)
}

// So does that of the real Claude Code, which asks at most eight questions.
func TestSoakConfinedDayOverACP(t *testing.T) {
	port, every := soakedDay(t)
	plain := runDay(t, claude, "off", port, every)
	confined := runDay(t, claude, "require", port, every)
	if len(confined.asked) > 8 {
		t.Errorf("asked %q", confined.asked)
	}
	confined.sameAs(t, plain)
}

func soakedDay(t *testing.T) (port string, every func(act) bool) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	if err := proc.Confines(); err != nil {
		t.Skip("nothing can be confined here:", err)
	}
	return ports.Free(), func(act) bool { return true }
}

// request makes a request and reads its JSON into v unless that is nil.
func (p *program) request(t *testing.T, method, path, body string, v any) int {
	t.Helper()
	r, err := http.NewRequest(method, "http://"+p.address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if v != nil {
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, b)
		}
	}
	return res.StatusCode
}
