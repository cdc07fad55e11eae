//go:build unix

package consent_test

import (
	"strings"
	"testing"

	"webchat/internal/consent"
)

func TestNothingToAsk(t *testing.T) {
	s, _ := newSet(t, consent.Hook{Event: consent.BeforeTool, Matcher: "bash", Command: "false"})
	c := call()
	c.Tool = "bash2"
	if v, a := run(t, s, c); !v.Allow || len(a.starts) != 0 {
		t.Errorf("%+v", v)
	}
	if !s.Demands(consent.BeforeTool) || s.Demands(consent.AfterTool) {
		t.Error("what it demands")
	}
	s, _ = newSet(t, consent.Hook{Event: consent.BeforeTool, Command: "false", BestEffort: true})
	if s.Demands(consent.BeforeTool) {
		t.Error("best effort demands nothing")
	}
}

func TestConfigIsChecked(t *testing.T) {
	for says, h := range map[string]consent.Hook{
		"none of session_start, session_end": {Event: "at_night", Command: "x"},
		"command is missing":                 {Event: consent.Error, Command: " "},
		"NUL":                                {Event: consent.Error, Command: "x\x00"},
		"absolute":                           {Event: consent.Error, Command: "x", Dir: "here"},
		"negative":                           {Event: consent.Error, Command: "x", Timeout: -1},
		"not a regular expression":           {Event: consent.BeforeTool, Command: "x", Matcher: "("},
		"about no tool": {
			Event:   consent.SessionStart,
			Command: "x",
			Matcher: "bash",
		},
	} {
		if _, err := consent.NewHooks(consent.HookConfig{
			Hooks:     []consent.Hook{h},
			Workspace: t.TempDir(),
		}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", h, err, says)
		}
	}
	if _, err := consent.NewHooks(consent.HookConfig{Workspace: "here"}); err == nil {
		t.Error("a relative workspace")
	}
	if err := (consent.Hook{
		Event:   consent.SessionStart,
		Command: "x",
		Matcher: ".*",
	}).Check(); err != nil {
		t.Error(err)
	}
}
