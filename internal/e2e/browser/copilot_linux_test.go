package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"webchat/internal/agent/copilot/copilottest"
)

// TestRealCopilot drives the GitHub Copilot CLI from the page, on a model of
// ours: words stream in, a file opens whole, a reload shows the same, and no
// request to the model holds what was shown.
func TestRealCopilot(t *testing.T) {
	shim := realCopilot(t)
	model := copilottest.New(t)
	s := start(t, "--backend", "copilot", "--copilot-path", shim, "--provider-url", model.URL(), "--model", "fake-1")
	p := s.open("/")
	p.has("#pick-backend", "copilot")
	p.has("#pick-model", "fake-1") // as --model says, before any agent runs

	p.say("hello from the page")
	p.done()
	p.has("#turns .said", "You said: hello from the page")

	p.say("show internal/pump/pump.go go.mod") // two: one alone would be shown without the agent
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 2`)
	p.done()
	p.has("#turns .slip", "Displayed pump.go to user")
	p.has("#turns [data-card] .code", "Package pump moves frames")
	p.shot("copilot")

	const turns = `document.querySelector('#turns').innerText.replace(/\s+/g, ' ').replace(/\d+ min/g, '')`
	before := eval[string](p, turns)
	p.do(chromedp.Reload())
	p.wait(`document.querySelectorAll('#turns [data-card] .line').length > 20`)
	p.is(turns, before)

	// A model that refuses, and an agent that dies: one card each that says so, and
	// the session goes on.
	p.say("status 400")
	p.wait(`document.querySelector('#turns .turn:last-child[data-state=error] [data-error]')`)
	p.has("#turns .turn:last-child [data-error]", "The provider answered 400: scripted refusal 400. The same request would be refused again")
	p.wait(`document.querySelector('#turns .turn:last-child [data-error] [data-act=retry] + [data-act=model]')`)
	p.shot("model-error")

	// A provider that wants a wait: one row with its words, whose button ends the wait.
	var calls atomic.Int32
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "hurry" && calls.Add(1) == 1 {
			return &copilottest.Reply{Status: 429, After: 50, Says: "Slow down"}
		}
		return nil
	})
	p.say("hurry")
	p.wait(`document.querySelector('#turns .turn:last-child .note-row [data-act=try-now]')`)
	p.has("#turns .turn:last-child .note-row", "The provider answered 429: Slow down. It may be tried again, 1 of 5.")
	p.shot("retrying")
	p.click("#turns .turn:last-child [data-act=try-now]")
	p.has("#turns .turn:last-child .said", "You said: hurry")
	p.done()
	p.is(`String(document.querySelectorAll('#turns [data-act=try-now]').length)`, "0")
	p.say("talk")
	p.has("#turns .turn:last-child .said", "word after word")
	s.killAgent()
	p.wait(`document.querySelector('#turns .turn:last-child[data-state=error] [data-error] [data-act=retry]')`)
	p.shot("agent-died")
	p.say("hello again")
	p.has("#turns .turn:last-child .said", "You said: hello again")
	p.done()

	// What it cost stands above the composer, which stays usable, and is the same after a reload.
	p.click("#meter")
	for _, words := range []string{"model calls", "of it for webchat", "Kept out", "was cut off at", "estimated"} {
		p.has("#ledger-pop", words)
	}
	p.click("#prompt")
	p.do(chromedp.KeyEvent("xy"))
	p.wait(`document.querySelector('#prompt').value === 'xy' && document.querySelector('#ledger').checkVisibility()`)
	p.shot("sheet")
	sheet := eval[string](p, `document.querySelector('#ledger').innerText`)
	p.do(chromedp.Reload())
	p.live()
	p.click("#meter")
	p.is(`document.querySelector('#ledger').innerText`, sheet)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`!document.querySelector('#ledger').checkVisibility() && document.activeElement.id === 'meter'`)

	for _, r := range model.Requests() {
		if strings.Contains(string(r.Body), "Patience is how long a sink") || strings.Contains(string(r.Body), "out_") {
			t.Errorf("a request to the model holds what was shown, or its id: %.2000s", r.Body)
		}
	}
}

// realCopilot is the CLI, as scripts/copilot.sh installs it.
func realCopilot(t testing.TB) string {
	t.Helper()
	shim, err := filepath.Abs(filepath.Join("..", "..", "..", ".cache", "copilot", "node_modules", ".bin", "copilot"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(shim); err != nil {
		if _, npm := exec.LookPath("npm"); npm == nil || os.Getenv("CI") != "" {
			t.Fatal("the real CLI is not installed: run scripts/copilot.sh, which needs npm")
		}
		t.Skip("npm is not installed, so the real CLI is not tried")
	}
	return shim
}

// killAgent ends what the server runs as its agent, at once.
func (s *site) killAgent() {
	s.t.Helper()
	children := map[int][]int{}
	list, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range list {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has gone
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	killed := 0
	for _, helper := range children[s.cmd.Process.Pid] { // the server's helper stands between
		for _, agent := range children[helper] {
			if err := syscall.Kill(agent, syscall.SIGKILL); err == nil {
				killed++
			}
		}
	}
	if killed == 0 {
		s.t.Fatal("the server runs no agent")
	}
}
