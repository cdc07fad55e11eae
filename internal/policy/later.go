package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// The lists name, in lower case, what programs run or obey by themselves, sooner or
// later, without anyone asking: Git and its hooks, agents, editors, shells, debuggers
// and logins. What runs only when its command is run (Makefile, package.json, a CI
// workflow after a push) is not among them.
var (
	laterFolders = []string{".git", ".husky", ".claude", ".codex", ".copilot", ".gemini", ".cursor", ".autohand", ".continue", ".windsurf",
		".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".direnv", ".mise", ".emacs.d", ".vim", ".webchat"}
	laterBelow = []string{".github/hooks", ".github/copilot", ".github/lsp.json", ".github/copilot-setup-steps.yml",
		".config/fish", ".config/git", ".config/nvim", ".config/mise", ".config/nushell", ".config/autostart", ".config/systemd",
		".local/bin", "library/launchagents"}
	laterFiles = []string{".envrc", ".autoenv", "mise.toml", ".mise.toml", ".mcp.json", "lefthook.yml", "lefthook.yaml", ".lefthook.yml",
		".pre-commit-config.yaml", ".devcontainer.json", ".gitconfig", ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".emacs",
		".dir-locals.el", ".gdbinit", ".lldbinit", ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".tmux.conf", ".screenrc"}
)

// runsLater reports whether a file, by one of its names, is among what is run later
// by itself.
func (p *Policy) runsLater(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		parts := strings.Split(p.relative(name), "/")
		for i := range parts {
			parts[i] = plainName(parts[i])
		}
		if slices.ContainsFunc(parts, func(dir string) bool { return slices.Contains(laterFolders, dir) }) ||
			slices.Contains(laterFiles, parts[len(parts)-1]) {
			return true
		}
		whole := "/" + path.Join(parts...) + "/"
		return slices.ContainsFunc(laterBelow, func(below string) bool { return strings.Contains(whole, "/"+below+"/") })
	})
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
