//go:build unix

package hooks_test

import (
	"strings"
	"testing"

	"webchat/internal/hooks"
)

func TestNothingToAsk(t *testing.T) {
	s, _ := newSet(t, hooks.Hook{Event: hooks.BeforeTool, Matcher: "bash", Command: "false"})
	c := call()
	c.Tool = "bash2"
	if v, a := run(t, s, c); !v.Allow || len(a.starts) != 0 {
		t.Errorf("%+v", v)
	}
	if !s.Demands(hooks.BeforeTool) || s.Demands(hooks.AfterTool) {
		t.Error("what it demands")
	}
	s, _ = newSet(t, hooks.Hook{Event: hooks.BeforeTool, Command: "false", BestEffort: true})
	if s.Demands(hooks.BeforeTool) {
		t.Error("best effort demands nothing")
	}
}

func TestConfigIsChecked(t *testing.T) {
	for says, h := range map[string]hooks.Hook{
		"none of session_start, session_end": {Event: "at_night", Command: "x"},
		"command is missing":                 {Event: hooks.Error, Command: " "},
		"NUL":                                {Event: hooks.Error, Command: "x\x00"},
		"absolute":                           {Event: hooks.Error, Command: "x", Dir: "here"},
		"negative":                           {Event: hooks.Error, Command: "x", Timeout: -1},
		"not a regular expression":           {Event: hooks.BeforeTool, Command: "x", Matcher: "("},
		"about no tool":                      {Event: hooks.SessionStart, Command: "x", Matcher: "bash"},
	} {
		if _, err := hooks.New(hooks.Config{Hooks: []hooks.Hook{h}, Workspace: t.TempDir()}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", h, err, says)
		}
	}
	if _, err := hooks.New(hooks.Config{Workspace: "here"}); err == nil {
		t.Error("a relative workspace")
	}
	if err := (hooks.Hook{Event: hooks.SessionStart, Command: "x", Matcher: ".*"}).Check(); err != nil {
		t.Error(err)
	}
}
