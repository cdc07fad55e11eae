package copilot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/tokens"
)

// decider answers each question of a session with the widest grant it offers.
type decider struct {
	s     *session.Session
	mu    sync.Mutex
	asked []event.PermissionRequested // guarded by mu: those that the user had to answer
}

func (d *decider) run(t *testing.T, ctx context.Context) {
	live := d.s.Subscribe()
	defer live.Close()
	for {
		entries, err := live.Next(ctx)
		if err != nil {
			return
		}
		for _, e := range entries {
			p, ok := e.Event.Data.(event.PermissionRequested)
			if !ok {
				continue
			}
			yes := consent.Decision{Decision: event.Allow}
			if n := len(p.Grants); n > 0 {
				yes.Grant, yes.Scope = p.Grants[n-1].ID, event.ForSession
			}
			switch err := d.s.Decide(t.Context(), p.RequestID, yes); { // also behind the end of the turn
			case err == nil:
				d.mu.Lock()
				d.asked = append(d.asked, p)
				d.mu.Unlock()
			case !errors.Is(err, consent.ErrAnswered):
				t.Errorf("decide about %q: %v", p.Resource, err)
			}
		}
	}
}

// aDay is what somebody has an agent do in a day: 40 reads, of which 16 are shown and 24 are the
// agent's own by its shell, 12 searches, 8 edits, 10 commands of 3 kinds, 2 secrets, and 3 commands
// in the background.
func aDay(ws string) (prompts []string) {
	file := func(i int) string { return fmt.Sprintf("a%d.txt", i%10) }
	shell := func(command string) {
		prompts = append(prompts, fmt.Sprintf(`call bash {"command":%q,"description":"work"}`, command))
	}
	for i := range 4 {
		prompts = append(prompts, "show "+strings.Join([]string{file(i), file(i + 1), file(i + 2), file(i + 3)}, " "))
	}
	for i := range 8 {
		shell("sed -n '1,20p' " + file(i))
		shell("cat " + file(i) + " | head -5")
		shell("head -n 3 " + file(i) + " && wc -l sub/b.txt")
	}
	for i := range 3 {
		prompts = append(prompts, fmt.Sprintf(`call grep {"pattern":"line %d","output_mode":"content"}`, i),
			fmt.Sprintf(`call glob {"pattern":"**/a%d*"}`, i))
		shell(fmt.Sprintf("grep -rn --include='*.txt' 'line %d' . | sort | uniq", i))
		shell(fmt.Sprintf("find . -name '*%d.txt' -type f", i))
	}
	for i := range 4 {
		name := filepath.Join(ws, "sub", "new-"+file(i))
		prompts = append(prompts, fmt.Sprintf(`call create {"path":%q,"file_text":"one\n"}`, name),
			fmt.Sprintf(`call edit {"path":%q,"old_str":"one","new_str":"two"}`, name))
	}
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./...", "go test ./... | tail -5", "go test -run TestOne ./sub",
		"git status", "git log --oneline -5", "git diff", "make lint", "make lint"} {
		shell(command)
	}
	for i := range 3 {
		prompts = append(prompts, bash(fmt.Sprintf("go test -count=%d ./...", i+1), ""))
	}
	return append(prompts, `call bash {"command":"cat .env","description":"look"}`, "show .env")
}

// programs returns a PATH on which go and make do nothing.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go", "make"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho ok\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// A day's work, with two compactions, a stop and a kill -9, asks at most six questions of a user who answers with the widest
// grant, and none of them is about reading what is not sensitive.
func TestRealDay(t *testing.T) {
	contents := []string{".env: KEY=1", "sub/b.txt: line 1", "go.mod: module day"}
	for i := range 10 {
		contents = append(contents, fmt.Sprintf("a%d.txt: line %d", i, i))
	}
	ws := plant(t, contents...)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", ws}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	h := newHouseIn(t, ws, consent.ModeAsk, func(c *copilot.Config) { c.Env = append(c.Env, programs(t)) })
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "stay" {
			return &copilottest.Reply{Text: strings.Repeat("word ", 1000), Pause: 20 * time.Millisecond}
		}
		return summing(r)
	})
	s := h.session()
	d := &decider{s: s}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	running.Go(func() { d.run(t, ctx) })
	prompts := aDay(ws)
	for i, prompt := range prompts {
		switch i {
		case len(prompts) / 3, 2 * len(prompts) / 3:
			if err := s.Compact(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		case len(prompts) / 4:
			if r := h.cut(s, func() { _ = s.Abort(t.Context(), "") }); r.Outcome != event.Aborted {
				t.Errorf("stopped: %+v", r)
			}
		case len(prompts) / 2:
			if r := h.cut(s, func() { kill(t, copilot.PID(h.backend)) }); !strings.Contains(r.Error, "was killed") {
				t.Errorf("killed: %+v", r)
			}
		}
		if r := h.ask(s, prompt); r.Error != "" {
			t.Errorf("%s: %s", prompt, r.Error)
		}
	}
	stop()
	running.Wait()
	var about []string
	secret := 0
	for _, p := range d.asked {
		about = append(about, p.ToolName+" "+p.Resource)
		if strings.HasSuffix(p.Resource, ".env") {
			secret++
		}
	}
	if len(d.asked) > 6 || secret != 2 {
		var end []string
		for _, e := range h.sofar(s) {
			switch e := e.(type) {
			case event.PermissionRequested:
				end = append(end, "? "+e.ToolName+" "+e.Resource)
			case event.PermissionCompleted:
				end = append(end, string(e.Decision)+" by "+string(e.By))
			}
		}
		t.Errorf("asked %d times, %d times about a secret: %q; at the end %q", len(d.asked), secret, about, end[max(0, len(end)-6):])
	}
	m := &counting{t: t, shown: map[string]int64{}}
	for _, c := range contents {
		name, content, _ := strings.Cut(c, ": ")
		n, _ := tokens.Count(content)
		m.shown["Displayed "+filepath.Base(name)+" to user (1 line)"] = int64(n)
	}
	for _, r := range h.model.Requests() {
		switch {
		case summing(r) != nil: // charged as any other
			m.all = m.all.Plus(event.Usage{Calls: 1, InputTokens: 100, OutputTokens: 10})
		case r.Prompt() == "stay":
			size, _ := tokens.Count(string(r.Body))
			m.cut += int64(size)
			m.count(r, size, 0)
		default:
			m.count(r, 100, 10)
			m.all.OutputTokens += 10
		}
	}
	h.until("the last report of a cost", func() bool { return s.Summary().Usage.Calls >= m.all.Calls })
	m.compare(s.Summary().Usage)
	t.Logf("a day of %d prompts asks %d questions: %q", len(prompts), len(d.asked), about)
}
