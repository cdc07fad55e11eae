package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// said is the last text of an assistant in the toys' sessions.
func (t *toys) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.reported) - 1; i >= 0; i-- {
		if d, ok := t.reported[i].(event.AssistantMessage); ok {
			return d.Content
		}
	}
	return ""
}

func TestOnlyWhatWasReleasedIsRead(t *testing.T) {
	toys := newToys(shows)
	url := onHTTP(t, newServer(t, toys, nil))
	s, _ := connect(t, url+"/w/1", eras[1], "a", nil)
	if res := call(t, s, "read_output", nil); !res.IsError || len(toys.open) > 0 {
		t.Errorf("reading before anything was shown began a session: %q", text(t, res))
	}
	other, _ := connect(t, url+"/w/1", eras[1], "b", nil)
	call(t, s, "show", nil)
	call(t, other, "show", nil)
	const refused = "Not released by the user: they can release it with \"Let the agent read this\" in webchat."
	for _, args := range []map[string]any{nil, {"output": "1"}, {"output": "o"}} {
		if res := call(t, s, "read_output", args); !res.IsError || text(t, res) != refused {
			t.Errorf("%v before anything was released: %q", args, text(t, res))
		}
	}
	var long strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	release := agent.Prompt{Attachments: []agent.Attachment{{Name: "go test\n```./...", Data: []byte("ok  a\nFAIL b\nok  c")}, {Name: "big.log", Data: []byte(long.String())}}}
	if err := toys.open["session 1"].Prompt(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	want := "Released. Paste this in Terminal agent:\n\n```\nUse webchat's read_output with output \"1\": go test '''./...\nUse webchat's read_output with output \"2\": big.log\n```"
	if got := toys.said(); got != want {
		t.Errorf("the user is told %q, want %q", got, want)
	}
	for _, c := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"read_output", "ok  a\nFAIL b\nok  c", map[string]any{"output": "1"}},
		{"read_output", "FAIL b\n", map[string]any{"output": "1", "lines": "2"}},
		{"read_output", "FAIL b\nok  c", map[string]any{"output": "1", "lines": "2-"}},
		{"read_output", "line 30000\n", map[string]any{"lines": "30000-40000"}},
		{"search_output", "2:FAIL b\n", map[string]any{"output": "1", "pattern": "^FAIL"}},
		{"search_output", "No line matches.", map[string]any{"output": "1", "pattern": "panic"}},
	} {
		if got := text(t, call(t, s, c.tool, c.args)); got != c.want {
			t.Errorf("%s %v returns %q, want %q", c.tool, c.args, got, c.want)
		}
	}
	all := text(t, call(t, s, "read_output", map[string]any{"output": "2"}))
	if len(all) > 110<<10 || !strings.HasPrefix(all, "line 1\n") || !strings.Contains(all, "lines follow: ask for lines ") {
		t.Errorf("a long one returns %d bytes that end in %q", len(all), all[len(all)-60:])
	}
	for _, args := range []map[string]any{{"output": "3"}, {"output": "1", "lines": "9"}, {"output": "1", "lines": "0"}, {"output": "1", "lines": "2-1"}} {
		if res := call(t, s, "read_output", args); !res.IsError {
			t.Errorf("%v returns %q", args, text(t, res))
		}
	}
	if res := call(t, other, "read_output", map[string]any{"output": "1"}); text(t, res) != refused {
		t.Errorf("another client reads %q", text(t, res))
	}
	toys.mu.Lock()
	defer toys.mu.Unlock()
	log, err := json.Marshal(toys.reported)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), "FAIL b") || !strings.Contains(string(log), "The agent read 18 bytes of go test") {
		t.Errorf("the session says %.800s", log)
	}
}

func TestAClientWithoutAWorkspaceReadsNothing(t *testing.T) {
	toys := newToys(shows)
	s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[0], "a", nil)
	call(t, s, "show", nil)
	if err := toys.open["session 1"].Prompt(t.Context(), agent.Prompt{Attachments: []agent.Attachment{{Name: "a", Data: []byte("b")}}}); err != nil {
		t.Fatal(err)
	}
	if got := toys.said(); !strings.Contains(got, "cannot read what you release") {
		t.Errorf("the user is told %q", got)
	}
}
