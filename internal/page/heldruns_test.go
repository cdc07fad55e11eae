package page

import (
	"testing"

	"webchat/internal/event"
)

// What is held says when it would run, of anything that may be held.
func TestWhatIsHeldSaysWhenItRuns(t *testing.T) {
	for name, want := range map[string]string{
		".envrc": "When you enter /w: by direnv", "sub/.envrc": "When you enter /w/sub: by direnv",
		".claude/settings.json": "When an agent starts in /w: by Claude Code",
		"a/.vscode":             "When you open /w/a: by VS Code",
		".git/hooks":            "When you commit, push or change branches in /w: by git",
		".git/commondir":        "When git is used in /w: by git",
		"b/config":              "When git is used in /w/b: by git",
		".profile":              "When a program that reads it starts in /w: by that program",
		"/out/.git/config":      "When git is used in /out: by git",
	} {
		a := &Ask{PermissionRequested: event.PermissionRequested{
			Kind:     event.KindLater,
			Resource: name,
			Held:     []event.Held{{ID: "H"}},
		}, In: &scope{Cwd: "/w"}}
		if r := a.Runs(); r == nil || r.When+" "+r.Dir+": by "+r.By != want {
			t.Errorf("%s: %+v, not %q", name, r, want)
		}
	}
}
