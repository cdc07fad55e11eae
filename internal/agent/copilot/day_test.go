package copilot_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/session"
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
			switch err := d.s.Decide(ctx, p.RequestID, yes); {
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

// aDay is what somebody has an agent do in a day: 40 reads, 12 searches, 8 edits, 10
// commands of 3 kinds, and 2 reads of .env.
func aDay(ws string) (prompts []string) {
	file := func(i int) string { return fmt.Sprintf("a%d.txt", i%10) }
	for i := range 4 {
		var names []string
		for n := range 10 {
			names = append(names, file(i+n))
		}
		prompts = append(prompts, "show "+strings.Join(names, " "))
	}
	for i := range 6 {
		prompts = append(prompts, fmt.Sprintf(`call grep {"pattern":"line %d","output_mode":"content"}`, i), fmt.Sprintf(`call glob {"pattern":"**/a%d*"}`, i))
	}
	for i := range 4 {
		name := filepath.Join(ws, "sub", "new-"+file(i))
		prompts = append(prompts, fmt.Sprintf(`call create {"path":%q,"file_text":"one\n"}`, name),
			fmt.Sprintf(`call edit {"path":%q,"old_str":"one","new_str":"two"}`, name))
	}
	for _, command := range []string{"ls", "ls -la", "ls sub", "ls -l a1.txt", "wc -l a1.txt", "wc -c a2.txt", "wc a3.txt"} {
		prompts = append(prompts, fmt.Sprintf(`call bash {"command":%q,"description":"look"}`, command))
	}
	prompts = append(prompts, "run git --version", "run git --version", "run git --version", "show .env", "show .env")
	return prompts
}

// A day's work asks at most six questions of a user who answers with the widest
// grant, and none of them is about reading what is not sensitive.
func TestRealDay(t *testing.T) {
	contents := []string{".env: KEY=1", "sub/b.txt: line 1"}
	for i := range 10 {
		contents = append(contents, fmt.Sprintf("a%d.txt: line %d", i, i))
	}
	ws := plant(t, contents...)
	h := newHouseIn(t, ws, consent.ModeAsk, nil)
	s := h.session()
	d := &decider{s: s}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	running.Go(func() { d.run(t, ctx) })
	for _, prompt := range aDay(ws) {
		if r := h.ask(s, prompt); r.Error != "" {
			t.Errorf("%s: %s", prompt, r.Error)
		}
	}
	stop()
	running.Wait()
	var about []string
	for _, p := range d.asked {
		about = append(about, p.ToolName+" "+p.Resource)
		if p.Kind == string(agent.KindRead) && filepath.Base(p.Resource) != ".env" {
			t.Errorf("asked about reading %q", p.Resource)
		}
	}
	if len(d.asked) > 6 || !slices.ContainsFunc(about, func(a string) bool { return strings.HasSuffix(a, ".env") }) {
		t.Errorf("asked %d times: %q", len(d.asked), about)
	}
	t.Logf("a day of %d calls asks %d questions: %q", 40+12+8+10+2, len(d.asked), about)
}
