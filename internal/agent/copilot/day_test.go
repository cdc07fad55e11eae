package copilot_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/tokens"
	"webchat/internal/views"
	"webchat/internal/wording"
)

// decider answers each question of sessions with the widest grant it offers.
type decider struct {
	mu    sync.Mutex
	asked []event.PermissionRequested // guarded by mu: those that the user had to answer
}

// run answers until the session ends.
func (d *decider) run(t *testing.T, s *session.Session) {
	live := s.Subscribe()
	defer live.Close()
	for {
		entries, err := live.Next(context.WithoutCancel(t.Context()))
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
			switch err := s.Decide(t.Context(), p.RequestID, yes); { // also behind the end of the turn
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

func (d *decider) questions() []event.PermissionRequested {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

// aDay is what somebody has an agent do in a day, or a part of it: 40 reads, of which 16 are shown
// and 24 are the agent's own by its shell, 12 searches, 8 edits, 10 commands of 3 kinds, 3 commands
// in the background, and 2 secrets. What one of them holds stays in its order.
func aDay(ws string, whole bool) (errands [][]string) {
	errand := func(prompts ...string) { errands = append(errands, prompts) }
	shell := func(command string) string {
		return fmt.Sprintf(`call bash {"command":%q,"description":"work"}`, command)
	}
	of := func(all, part int) int {
		if whole {
			return all
		}
		return part
	}
	file := func(i int) string { return fmt.Sprintf("a%d.txt", i%10) }
	for i := range of(4, 2) {
		errand("show " + strings.Join([]string{file(i), file(i + 1), file(i + 2), file(i + 3)}, " "))
	}
	for i := range of(8, 2) {
		errand(shell("sed -n '1,20p' " + file(i)))
		errand(shell("cat " + file(i) + " | head -5"))
		errand(shell("head -n 3 " + file(i) + " && wc -l sub/b.txt"))
	}
	for i := range of(3, 1) {
		errand(fmt.Sprintf(`call grep {"pattern":"line %d","output_mode":"content"}`, i))
		errand(fmt.Sprintf(`call glob {"pattern":"**/a%d*"}`, i))
		errand(shell(fmt.Sprintf("grep -rn --include='*.txt' 'line %d' . | sort | uniq", i)))
		errand(shell(fmt.Sprintf("find . -name '*%d.txt' -type f", i)))
	}
	for i := range of(4, 1) {
		name := filepath.Join(ws, "sub", "new-"+file(i))
		errand(fmt.Sprintf(`call create {"path":%q,"file_text":"one\n"}`, name),
			fmt.Sprintf(`call edit {"path":%q,"old_str":"one","new_str":"two"}`, name))
	}
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./...",
		"go test ./... | tail -5", "go test -run TestOne ./sub",
		"git status", "git log --oneline -5", "git diff", "make lint", "make lint"} {
		errand(shell(command))
	}
	for i := range of(3, 1) {
		errand(bash(fmt.Sprintf("go test -count=%d ./...", i+1), ""))
	}
	errand(shell("cat .env"))
	errand("show .env")
	return errands
}

// programs returns a PATH on which go and make do nothing.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go", "make"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho ok\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// A day's work, with two compactions, a stop, a kill -9 and a restart, asks at most 15 questions of
// a user who answers with the widest grant, and every number of the page is that of an independent
// count.
func TestRealDay(t *testing.T) { day(t, false, rand.New(rand.NewPCG(1, 0))) }

// The whole day, in an order of its own for each seed.
func TestRealDaySoak(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("WEBCHAT_SOAK"), 10, 64)
	if err != nil {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	day(t, true, rand.New(rand.NewPCG(seed, 0)))
}

func day(t *testing.T, whole bool, r *rand.Rand) {
	contents := map[string]string{".env": "KEY=1", "sub/b.txt": "line 1", "go.mod": "module day"}
	for i := range 10 {
		contents[fmt.Sprintf("a%d.txt", i)] = strings.Repeat(fmt.Sprintf("line %d\n", i), 60)
	}
	m := &counting{t: t, shown: map[string]int64{}}
	var files []string
	for name, content := range contents {
		files = append(files, name+": "+content)
		n, _ := tokens.Count(content)
		m.shown[fmt.Sprintf("Displayed %s to user (%s)", filepath.Base(name),
			wording.Plural(int64(max(1, strings.Count(content, "\n"))), "line"))] = int64(n)
	}
	ws := plant(t, files...)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}} {
		if out, err := exec.Command("git", append([]string{"-C", ws},
			args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	h := newHouseIn(t, ws, consent.ModeAsk, func(c *copilot.Config) {
		c.Env = append(c.Env, programs(t))
	})
	size := func(r copilottest.Request) int { n, _ := tokens.Count(string(r.Body)); return n }
	h.model.Charge(func(r copilottest.Request) (in, out int) { return size(r), 7 })
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "stay" {
			return &copilottest.Reply{Text: strings.Repeat("word ", 1000), Pause: 20 * time.Millisecond}
		}
		return summing(r)
	})
	s := h.session()
	d := &decider{}
	var running sync.WaitGroup
	follow := func() { running.Go(func() { d.run(t, s) }) }
	follow()
	interruptions := []func(){
		func() {
			if r := h.cut(s, func() { _ = s.Abort(t.Context(), "") }); r.Outcome != event.Aborted {
				t.Errorf("stopped: %+v", r)
			}
		},
		func() { h.killed(s) },
		func() { s = h.restart(s); follow() },
	}
	for range 2 {
		interruptions = append(interruptions, func() {
			if err := s.Compact(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
	errands := aDay(ws, whole)
	r.Shuffle(len(errands), func(i, j int) { errands[i], errands[j] = errands[j], errands[i] })
	before := map[int]func(){} // what happens before an errand
	for i, n := range r.Perm(len(errands) - 1)[:len(interruptions)] {
		before[n+1] = interruptions[i]
	}
	for i, prompts := range errands {
		if before[i] != nil {
			before[i]()
		}
		for _, prompt := range prompts {
			if r := h.ask(s, prompt); r.Error != "" {
				t.Errorf("%s: %s", prompt, r.Error)
			}
		}
	}
	for _, r := range h.model.Requests() {
		n := size(r)
		switch {
		case summing(r) != nil: // charged as any other
			m.all = m.all.Plus(event.Usage{Calls: 1, InputTokens: int64(n), OutputTokens: 7})
		case r.Prompt() == "stay":
			m.cut += int64(n)
			m.count(r, n, 0)
		default:
			m.count(r, n, 7)
			m.all.OutputTokens += 7
		}
	}
	h.until("the last report of a cost", func() bool { return s.Summary().Usage.Calls >= m.all.Calls })
	got := s.Summary().Usage
	m.compare(got)
	if off := float64(got.EstimatedTokens)/float64(m.cut) - 1; off < -0.35 || off > 0.35 {
		t.Errorf("the calls that were cut are in the ledger with %d tokens, their requests had %d",
			got.EstimatedTokens, m.cut)
	}
	h.pageSays(s, got)
	var about []string
	secret := 0
	for _, p := range d.questions() {
		about = append(about, p.ToolName+" "+p.Resource)
		if strings.HasSuffix(p.Resource, ".env") {
			secret++
		}
	}
	if len(about) > 15 || secret != 2 {
		t.Errorf("asked %d times, %d times about a secret: %q", len(about), secret, about)
	}
	h.stop() // ends what follows it
	running.Wait()
	t.Logf("soak: a day of %d errands asks %d questions: %q; net %d tokens", len(errands), len(about),
		about, got.KeptTokens-got.OwnTokens)
}

// pageSays compares what the session's page says was kept out on balance with the ledger.
func (h *house) pageSays(s *session.Session, u event.Usage) {
	h.t.Helper()
	pages, err := page.New(page.Config{Outputs: noOutputs{}})
	if err != nil {
		h.t.Fatal(err)
	}
	entries, err := s.Events(h.t.Context(), 0, 1<<20)
	if err != nil {
		h.t.Fatal(err)
	}
	p := pages.Projector(string(s.ID()))
	p.Load(entries...)
	var b strings.Builder
	if err := pages.Session(&b, page.View{Workspace: h.dir}, p); err != nil {
		h.t.Fatal(err)
	}
	net, name := u.KeptTokens-u.OwnTokens, "Net"
	if net < 0 {
		net, name = -net, "Not yet earned back"
	}
	row := regexp.MustCompile(`<th scope="row">` + name + `<span>[^<]*</span></th><td>` +
		wording.Count(net) + `</td>`)
	if !row.MatchString(b.String()) {
		_, sheet, _ := strings.Cut(b.String(), `<section id="ledger">`)
		h.t.Errorf("the page has no row %s %s: %s", name, wording.Count(net),
			sheet[:min(len(sheet), 3000)])
	}
}

// noOutputs is a shelf on which nothing stands.
type noOutputs struct{}

func (noOutputs) Output(string) (views.Output, bool) { return views.Output{}, false }
