package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Effect is what comes of a [Later] by itself.
type Effect int

const (
	Runs      Effect = iota // programs run it, or obey it as settings
	Instructs               // agents read it, and run nothing because of it
	// Holds is of a folder that its program writes to all the time, and of which some entries run:
	// those stand in the list, too.
	Holds
)

// Later is a place of a folder, below it at any depth, that takes effect sooner or later without
// anyone asking: by Git and its hooks, agents, editors, shells, debuggers and logins. What runs
// only when its command is run (Makefile, package.json, a CI workflow after a push) is not one.
type Later struct {
	// Path is a file, or a folder with all that is in it, by the last elements of its path in lower
	// case, each a pattern of [path.Match].
	Path   string
	Effect Effect
	By     []string // the agents that run it when they start; see [RunBy]
}

// Laters is the one list of such places.
var Laters = slices.Concat(
	// Git and its like, and hooks.
	laters(Holds, ".git"),
	laters(Runs, `.git/hooks .git/config .git/config.worktree .git/info/attributes .git/modules
		.git/commondir .gitconfig .hg/hgrc* .husky lefthook.yml lefthook.yaml .lefthook.yml
		.pre-commit-config.yaml`),
	// Agents.
	laters(Runs, ".github/hooks", "copilot-acp"),
	laters(Runs, ".claude/settings.json .claude/settings.local.json", "claude", "copilot-acp"),
	laters(Runs, ".codex/config.toml .codex/hooks.json .codex/rules", "codex"),
	laters(Runs, ".gemini/settings.json .gemini/extensions .gemini/hooks .gemini/.env", "gemini"),
	laters(Runs, "opencode.json opencode.jsonc .opencode", "opencode"),
	laters(Runs, ".qwen/settings.json .qwen/extensions .qwen/hooks .qwen/.env", "qwen"),
	laters(Runs, `.github/copilot/settings.json .github/copilot/settings.local.json .mcp.json
		.github/mcp.json`, "copilot-acp"),
	laters(Runs, ".autohand/extensions", "autohand"),
	laters(Runs, `.claude .codex .copilot .gemini .cursor .autohand .continue .windsurf .qwen .webchat
		.github/copilot .github/lsp.json .github/copilot-setup-steps.yml`),
	laters(Instructs, `agents.md agents.override.md claude.md claude.local.md gemini.md qwen.md
		.github/copilot-instructions.md .github/instructions .claude/rules .cursor/rules .cursorrules
		.windsurfrules`),
	// Editors and debuggers.
	laters(Runs, `.vscode *.code-workspace .idea .zed .fleet .helix .devcontainer .devcontainer.json
		.emacs.d .emacs .dir-locals.el .vim .exrc .vimrc .nvimrc .nvim.lua .lvimrc .config/nvim
		.gdbinit .lldbinit`),
	// What other programs read wherever they are started.
	laters(Runs, `.envrc .autoenv .direnv .mise mise.toml .mise.toml .config/mise .cargo/config
		.cargo/config.toml .yarnrc .yarnrc.yml .rprofile`),
	// Shells and logins.
	laters(Runs, `.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .zshrc
		.zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc
		.xprofile .xinitrc .xsession .xsessionrc .tmux.conf .screenrc .config/fish .config/git
		.config/nushell .config/autostart .config/systemd .local/bin library/launchagents`),
)

func laters(e Effect, paths string, by ...string) (all []Later) {
	for p := range strings.FieldsSeq(paths) {
		all = append(all, Later{p, e, by})
	}
	return all
}

// RunBy returns the places of a folder whose programs and settings an agent takes when it starts
// there, by the name of its preset.
func RunBy(agent string) (paths []string) {
	for _, l := range Laters {
		if slices.Contains(l.By, agent) {
			paths = append(paths, l.Path)
		}
	}
	return paths
}

// laterBy has the entries of Laters by the first element of their paths, and those in which it is a
// pattern by "".
var laterBy = func() map[string][]laterEntry {
	by := map[string][]laterEntry{}
	for _, l := range Laters {
		e := laterEntry{l.Effect, strings.Split(l.Path, "/")}
		first := e.elements[0]
		if strings.ContainsAny(first, "*?[") {
			first = ""
		}
		by[first] = append(by[first], e)
	}
	return by
}()

type laterEntry struct {
	effect   Effect
	elements []string
}

// IsLater reports whether the file or folder at a path is itself one of [Laters] with an effect,
// and not by what holds it. The last elements of the path decide.
func IsLater(p string, effect Effect) bool {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = plainName(parts[i])
	}
	for i, part := range parts {
		for _, entries := range [][]laterEntry{laterBy[part], laterBy[""]} {
			for _, e := range entries {
				if e.effect == effect && len(e.elements) == len(parts)-i && matchesAll(e.elements, parts[i:]) {
					return true
				}
			}
		}
	}
	return false
}

// runsLater reports whether a file, by one of its names, is one of [Laters] or in one.
func (p *Policy) runsLater(names []string) bool { return p.later(names).elements != nil }

// later returns which of [Laters] a file is or is in, by one of its names: the one with the longest
// path. Without elements it is none.
func (p *Policy) later(names []string) (most laterEntry) {
	for _, name := range names {
		parts := strings.Split(p.relative(name), "/")
		for i := range parts {
			parts[i] = plainName(parts[i])
		}
		for i, part := range parts {
			if part == "" {
				continue
			}
			for _, entries := range [][]laterEntry{laterBy[part], laterBy[""]} {
				for _, e := range entries {
					if len(e.elements) > len(most.elements) && matchesAll(e.elements, parts[i:]) {
						most = e
					}
				}
			}
		}
	}
	return most
}

// matchesAll reports whether a path begins with elements, which are patterns.
func matchesAll(elements, parts []string) bool {
	if len(parts) < len(elements) {
		return false
	}
	for i, e := range elements {
		if ok, _ := path.Match(e, parts[i]); !ok {
			return false
		}
	}
	return true
}

// plainName is a file's name as the most forgiving file system reads it: any case,
// no invisible characters, no dots and spaces at the end, no short name of Git's folder.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	name = strings.TrimRight(name, " .")
	if name, _, _ = strings.Cut(name, ":"); name == "git~1" {
		return ".git"
	}
	return name
}
