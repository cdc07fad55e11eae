package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// guest is a session whose agent's model calls tools of real servers.
type guest struct {
	*program
	t *testing.T
	worker
	path   string // of the session
	model  *scripted.Model
	events *bufio.Scanner
}

// came is what came of a call.
type came struct {
	model    string // what the model got of it
	output   []byte
	progress []string
}

// inTheMiddle is a line of a large file.
const inTheMiddle = "line 3002 is for the user"

// admit starts a program with the servers and a session with the worker.
func admit(t *testing.T, w worker, servers []string) *guest {
	t.Helper()
	model, err := scripted.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	flags, env := w.begin(t, model.URL())
	for i, v := range env {
		if strings.HasPrefix(v, "PATH=") {
			env[i] = v + string(filepath.ListSeparator) + os.Getenv("PATH")
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	workspace := t.TempDir()
	half := strings.Repeat("one of many lines of words\n", 3000)
	for name, text := range map[string]string{"notes.txt": "first note\n",
		"large.txt": "the first line\n" + half + inTheMiddle + "\n" + half} {
		if err := os.WriteFile(filepath.Join(workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := prepare(t, self, append(env, "GORACE=atexit_sleep_ms=0", "HOME="+t.TempDir()),
		append(flags, realServers(t, workspace, servers)...)...)
	p.workspace = workspace
	p.start(t)
	var list struct {
		Servers []struct{ Name, State, Failure string }
	}
	p.request(t, "GET", "/api/mcp", "", &list)
	for _, s := range list.Servers {
		if s.State != "ready" {
			t.Fatalf("%s: %s", s.Name, s.Failure)
		}
	}
	var made struct{ ID string }
	p.request(t, "POST", "/api/sessions", "{}", &made)
	g := &guest{program: p, t: t, worker: w, path: "/api/sessions/" + made.ID, model: model}
	g.stream()
	return g
}

// stream opens the session's stream of events, which ends with the test.
func (g *guest) stream() {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 5*time.Minute)
	g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+g.address+g.path+"/events", nil)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { res.Body.Close() })
	g.events = bufio.NewScanner(res.Body)
	g.events.Buffer(nil, 32<<20)
}

// next returns the next event; false: there is none.
func (g *guest) next() (data event.Data, ok bool) {
	g.t.Helper()
	for g.events.Scan() {
		if text, ok := strings.CutPrefix(g.events.Text(), "data: "); ok {
			e, err := event.Unmarshal([]byte(text))
			if err != nil {
				g.t.Fatal(err)
			}
			return e.Data, true
		}
	}
	return nil, false
}

// turn has the model make calls, allows each, and returns what came of them. When seen, unless it
// is nil, is called with the progress of a call.
func (g *guest) turn(calls []serverCall, seen func()) (all []came) {
	g.t.Helper()
	var steps []scripted.Step
	for _, c := range calls {
		own, _ := g.worker.call(act{tool: c.tool, args: json.RawMessage(c.args)})
		steps = append(steps, scripted.Step{Tool: own.tool, Arguments: c.args})
	}
	g.model.Play(steps...)
	g.request(g.t, "POST", g.path+"/messages", `{"content":"go on"}`, nil)
	var now came
	for {
		data, ok := g.next()
		if !ok {
			g.t.Fatalf("the turn does not end: %v; so far %d of %d calls, %+v", g.events.Err(), len(all),
				len(calls), now)
		}
		switch d := data.(type) {
		case event.PermissionRequested:
			g.request(g.t, "POST", g.path+"/permissions/"+d.RequestID, `{"decision":"allow"}`, nil)
		case event.UserInputRequested:
			answer, err := json.Marshal(map[string]any{"wasFreeform": true,
				"answer": calls[len(all)].answer(d.Question)})
			if err != nil {
				g.t.Fatal(err)
			}
			g.request(g.t, "POST", g.path+"/answers/"+d.RequestID, string(answer), nil)
		case event.ToolExecutionProgress:
			now.progress = append(now.progress, d.ProgressMessage)
			if seen != nil {
				seen()
			}
		case event.ToolExecutionComplete:
			if d.Result != nil {
				now.model = d.Result.Content
			} else if d.Error != nil {
				now.model = d.Error.Message
			}
			if d.OutputID != "" {
				now.output = g.output(d.OutputID)
			}
			all, now = append(all, now), came{}
		case event.TurnEnd:
			return all
		}
	}
}

// output is what the user sees.
func (g *guest) output(id string) []byte {
	g.t.Helper()
	r, err := http.NewRequest("GET", "http://"+g.address+"/api/outputs/"+id, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+g.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("%s %v", res.Status, err)
	}
	return b
}

// holds looks at what came of calls.
func (g *guest) holds(calls []serverCall, all []came) {
	g.t.Helper()
	if len(all) != len(calls) {
		g.t.Fatalf("%d calls came to %d results", len(calls), len(all))
	}
	sent := bytes.Join(g.model.Requests(), nil)
	for i, c := range calls {
		got := all[i]
		if !strings.Contains(got.model, c.model) {
			g.t.Errorf("%s %s: the model gets %q, not %q", c.tool, c.args, got.model, c.model)
		}
		if !bytes.Contains(got.output, []byte(c.output)) {
			g.t.Errorf("%s %s: the output is %q, not %q", c.tool, c.args, got.output, c.output)
		}
		if c.output == "" && c.kept == "" && got.output != nil {
			g.t.Errorf("%s %s: there is an output, %q", c.tool, c.args, got.output)
		}
		if c.kept != "" && bytes.Contains(sent, []byte(c.kept)) {
			g.t.Errorf("%s %s: the model was sent %q", c.tool, c.args, c.kept)
		}
		if c.kept != "" && c.output == "" && !bytes.Contains(got.output, []byte(c.kept)) {
			g.t.Errorf("%s %s: the output is %q, without %q", c.tool, c.args, got.output, c.kept)
		}
		if c.progress != "" && !slices.Contains(got.progress, c.progress) {
			g.t.Errorf("%s %s: its progress is %q, without %q", c.tool, c.args, got.progress, c.progress)
		}
	}
}

// offered are the tools of the servers that the model is offered, as the user calls them.
func (g *guest) offered() (names []string) {
	for name := range g.model.Offered() {
		name = strings.ReplaceAll(strings.TrimPrefix(name, "mcp__webchat__"), "-", "_")
		if server, _, ok := strings.Cut(name, "_"); ok &&
			slices.Contains([]string{"everything", "files", "budget", "browser"}, server) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stops stops a call, and makes another over the same connection.
func (g *guest) stops() {
	g.t.Helper()
	long := []serverCall{{tool: "everything-trigger-long-running-operation",
		args: `{"duration":1000,"steps":10000}`}}
	stop := func() { g.request(g.t, "POST", g.path+"/abort", "{}", nil) }
	g.turn(long, stop)
	again := serverCalls[:1]
	g.holds(again, g.turn(again, nil))
}

// logs has a server log, and waits until its row has that.
func (g *guest) logs() {
	g.t.Helper()
	g.turn([]serverCall{{tool: "everything-toggle-simulated-logging", args: `{}`}}, nil)
	for again := time.NewTicker(100 * time.Millisecond); ; <-again.C {
		var list struct{ Servers []struct{ Name, Log string } }
		g.request(g.t, "GET", "/api/mcp", "", &list)
		for _, s := range list.Servers {
			if s.Name == "everything" && strings.Contains(s.Log, "message") {
				again.Stop()
				return
			}
		}
	}
}
