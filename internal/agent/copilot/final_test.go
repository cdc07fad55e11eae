package copilot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/tokens"
)

// A message whose calls all show something, are all marked final and all succeed ends the turn with
// one call of the model; in every other case the turn goes on. What comes after knows of it.
func TestRealFinalDisplays(t *testing.T) {
	h := newHouse(t, alone)
	for _, name := range []string{"a.txt", "b.txt"} {
		write(t, filepath.Join(h.dir, name), []byte("canary\n"))
	}
	write(t, filepath.Join(h.dir, "dot.png"), dot(t))
	show := func(path, final string) copilottest.Call {
		return copilottest.Call{Tool: "render_file_contents", Arguments: `{"path":"` + path + `"` +
			final + `}`}
	}
	const yes = `,"final":true`
	picture := copilottest.Call{Tool: "display_image", Arguments: `{"path":"dot.png","final":true}`}
	command := copilottest.Call{
		Tool:      "run_and_display",
		Arguments: `{"command":"echo ran","final":true}`,
	}
	bash := copilottest.Call{Tool: "bash", Arguments: `{"command":"echo hi","description":"x"}`}
	cases := []struct {
		name  string
		calls []copilottest.Call
		ends  bool
	}{
		{"one", []copilottest.Call{show("a.txt", yes)}, true},
		{"several", []copilottest.Call{show("a.txt", yes), command, picture}, true},
		{"not marked", []copilottest.Call{show("a.txt", "")}, false},
		{"marked no", []copilottest.Call{show("a.txt", `,"final":false`)}, false},
		{"one not marked", []copilottest.Call{show("a.txt", yes), show("b.txt", "")}, false},
		{"failed", []copilottest.Call{show("none.txt", yes)}, false},
		{"one failed", []copilottest.Call{show("a.txt", yes), show("none.txt", yes)}, false},
		{"no boolean", []copilottest.Call{show("a.txt", `,"final":"yes"`)}, false},
		{"another tool behind", []copilottest.Call{show("a.txt", yes), bash}, false},
		{"another tool before", []copilottest.Call{bash, show("a.txt", yes)}, false},
		{"again", []copilottest.Call{show("b.txt", yes)}, true},
	}
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Messages[len(r.Messages)-1].Role == "tool" {
			return &copilottest.Reply{Text: "Further."}
		}
		for _, c := range cases {
			if c.name == r.Prompt() {
				return &copilottest.Reply{Calls: c.calls}
			}
		}
		return nil
	})
	s := h.session()
	for _, c := range cases {
		before := len(h.model.Requests())
		r := h.ask(s, c.name)
		calls, want := len(h.model.Requests())-before, 2
		if c.ends {
			want = 1
		}
		if calls != want || r.Error != "" || r.Outcome != event.Completed ||
			(r.Content == "Further.") == c.ends {
			t.Errorf("%s: %d calls of the model, want %d: %+v", c.name, calls, want, r)
		}
	}
	for _, d := range h.sofar(s) {
		if end, ok := d.(event.ToolExecutionComplete); ok && end.Error != nil &&
			end.Error.Code == "rejected" {
			t.Errorf("the log holds a rejected call: %+v", end)
		}
	}

	// The next prompt, also of a new process, finds the line where any tool's is.
	knows := func(when string) {
		t.Helper()
		if r := h.ask(s, "hello"); r.Content != "You said: hello" {
			t.Errorf("%s: %+v", when, r)
		}
		all := h.model.Requests()
		last := all[len(all)-1]
		lines := 0
		for _, m := range last.Messages {
			if m.Role == "tool" && strings.HasPrefix(m.Content, "Displayed b.txt to user (1 line)") {
				lines++
			}
			if strings.Contains(m.Content, "canary") {
				t.Errorf("%s: the model is sent what was shown", when)
			}
		}
		if lines != 2 {
			t.Errorf("%s: %d lines of b.txt, want 2", when, lines)
		}
	}
	knows("in the same process")
	kill(t, copilot.PID(h.backend))
	h.until("its end", func() bool { return copilot.PID(h.backend) == 0 })
	knows("resumed")
}

// With the argument the tools stay cheap in each call.
func TestFinalIsCheap(t *testing.T) {
	sum := 0
	for _, d := range copilot.Definitions(displaytools.Specs()) {
		sent, err := json.Marshal(map[string]any{"type": "function",
			"function": map[string]any{"name": d.Name, "description": d.Description,
				"parameters": d.Parameters}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(sent), `"final":{`) {
			t.Errorf("%s is offered without final", d.Name)
		}
		n, _ := tokens.Count(string(sent))
		sum += n
	}
	if t.Logf("%d tokens", sum); sum > 240 {
		t.Errorf("the display tools cost %d tokens in each call", sum)
	}
	// What the ledger counts has the sentence of the system message, too. The documents say the same.
	added := copilot.Added(displaytools.Specs())
	confined := copilot.Added(append(displaytools.Specs(), session.AccessSpec)) - added
	for file, words := range map[string]string{
		"README.md": fmt.Sprintf(
			"a sentence about them are %d tokens of each call (%d more where agents are confined)", added,
			confined),
		"docs/MODELS.md": fmt.Sprintf(
			"a sentence about them add %d tokens to each call of the Copilot CLI, and so %d to", added,
			2*added),
	} {
		text, err := os.ReadFile(filepath.Join("../../..", file))
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), words) {
			t.Errorf("%s does not say %q (%v)", file, words, err)
		}
	}
}
