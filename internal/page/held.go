package page

import (
	"path"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// byItself says what runs a file of [policy.Laters] by itself: when, and by what, around the folder
// that it is in, Dir.
type byItself struct{ When, By, Dir string }

// runsLater is that by the beginnings of their paths. Of several the longest counts.
var runsLater = map[string]byItself{
	".envrc":             {When: "When you enter", By: "direnv"},
	".direnv":            {When: "When you enter", By: "direnv"},
	".autoenv":           {When: "When you enter", By: "autoenv"},
	".mise":              {When: "When you enter", By: "mise"},
	"mise.toml":          {When: "When you enter", By: "mise"},
	".config/mise":       {When: "When you enter", By: "mise"},
	".git":               {When: "When git is used in", By: "git"},
	".git/hooks":         {When: "When you commit, push or change branches in", By: "git"},
	".husky":             {When: "When you commit or push in", By: "git"},
	"lefthook":           {When: "When you commit or push in", By: "git"},
	".lefthook":          {When: "When you commit or push in", By: "git"},
	".pre-commit-config": {When: "When you commit in", By: "git"},
	".github/hooks":      {When: "When an agent starts in", By: "Copilot CLI"},
	".github":            {When: "When an agent starts in", By: "Copilot CLI"},
	".copilot":           {When: "When an agent starts in", By: "Copilot CLI"},
	".claude":            {When: "When an agent starts in", By: "Claude Code"},
	".codex":             {When: "When an agent starts in", By: "Codex"},
	".gemini":            {When: "When an agent starts in", By: "Gemini CLI"},
	".mcp.json":          {When: "When an agent starts in", By: "the agents that read it"},
	"opencode":           {When: "When an agent starts in", By: "opencode"},
	".opencode":          {When: "When an agent starts in", By: "opencode"},
	".cursor":            {When: "When you open", By: "Cursor"},
	".vscode":            {When: "When you open", By: "VS Code"},
	".idea":              {When: "When you open", By: "JetBrains’ editors"},
	".devcontainer":      {When: "When you open", By: "VS Code"},
	".zed":               {When: "When you open", By: "Zed"},
	".helix":             {When: "When you open", By: "Helix"},
	".vim":               {When: "When you open a file of", By: "Vim"},
	".exrc":              {When: "When you open a file of", By: "Vim"},
	".nvim":              {When: "When you open a file of", By: "Neovim"},
	".dir-locals.el":     {When: "When you open a file of", By: "Emacs"},
	".gdbinit":           {When: "When you debug in", By: "GDB"},
	".lldbinit":          {When: "When you debug in", By: "LLDB"},
	".cargo":             {When: "When you build in", By: "Cargo"},
	".yarnrc":            {When: "When you install in", By: "Yarn"},
}

// Later reports whether it is about what was made already, and is held.
func (a *Ask) Later() bool { return a.Kind == event.KindLater }

// Runs says when what is held would run, in the words of one.
func (a *Ask) Runs() *byItself {
	if !a.Later() || len(a.Held) != 1 {
		return nil
	}
	name := filepath.ToSlash(a.Resource)
	parts := strings.Split(strings.ToLower(name), "/")
	most, found, at := "", byItself{
		When: "When a program that reads it starts in",
		By:   "that program",
	}, len(parts)-1
	for i := range parts {
		rest := strings.Join(parts[i:], "/")
		for begin, run := range runsLater {
			if strings.HasPrefix(rest, begin) && len(begin) > len(most) {
				most, found, at = begin, run, i
			}
		}
	}
	if most == "" && !policy.IsLater(name, policy.Runs) {
		at = len(parts) - 1
		// in a folder that it takes for a repository
		found = byItself{When: "When git is used in", By: "git"}
	}
	dir := path.Join(strings.Split(name, "/")[:at]...)
	if dir = "/" + dir; !path.IsAbs(name) {
		dir = path.Join(filepath.ToSlash(a.In.Cwd), dir)
	}
	found.Dir = dir
	return &found
}

// Stood says how long one that was seen late was in the folder; empty if it was not.
func (a *Ask) Stood() string {
	if len(a.Held) != 1 || a.Held[0].StoodMs == 0 {
		return ""
	}
	return wording.Plain(a.Resource) + " was in the folder for " +
		wording.Took(time.Duration(a.Held[0].StoodMs)*time.Millisecond) + " before it was held"
}

// KeptAs is the name under which it was kept, if that is another one.
func (a *Ask) KeptAs() string {
	if len(a.Decided.Kept) != 1 || a.Decided.Kept[0] == a.Resource {
		return ""
	}
	return a.Decided.Kept[0]
}

// Undoable reports whether what was decided can be taken back.
func (a *Ask) Undoable() bool {
	return a.Later() && a.Answered && a.Decided.By == event.DecidedByUser && len(a.Held) > 0 &&
		a.Held[0].Beside == ""
}

// notHeld says that a turn made files that run later and stay.
func (f *turns) notHeld(n int64) {
	if n == 0 {
		return
	}
	what := "file that runs later by itself was left where it is"
	if n > 1 {
		what = "files that run later by themselves were left where they are"
	}
	f.note("", "file", wording.Count(int(n))+" "+what+
		": below node_modules and the like, or checked out by git")
}
