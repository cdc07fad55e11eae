package policy

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Secret is a file or folder of webchat's own that no act opens: no tool, no attachment, no
// completion, for the user as little as for an agent.
type Secret struct {
	Path string // absolute; a folder is a secret with all that is in it
	What string // names it, as in "webchat's API token"; empty: what is there is none
}

// ownRule is what decides about a [Secret].
const ownRule = "webchat's own secrets"

// ownFiles are webchat's own.
type ownFiles struct {
	private []string // files and folders by every name of their paths
	secrets []Secret // each by every name of its path
}

// own reports whether a path is one of webchat's own files. Upper and lower case
// are one here: not every file system distinguishes them, and asking costs little.
func (o *ownFiles) own(name string) bool {
	return slices.ContainsFunc(o.private, func(own string) bool {
		return isUnder(strings.ToLower(own), strings.ToLower(name))
	})
}

// Hidden reports whether a list of names leaves out a file, since it is one of webchat's own
// secrets. The path is absolute, and its links were followed.
func (o *ownFiles) Hidden(name string) bool { return o.secretAt(filepath.ToSlash(name)) != "" }

// secretAt names the secret that a path belongs to; empty means none. Upper and lower case are
// one, as in own.
func (o *ownFiles) secretAt(name string) string {
	for _, s := range o.secrets {
		if isUnder(strings.ToLower(s.Path), strings.ToLower(name)) {
			return s.What
		}
	}
	return ""
}

// sameAsSecret names the secret that an opened file is, by whatever name it was reached: a
// hard link, or a folder that is mounted twice.
func (o *ownFiles) sameAsSecret(st fs.FileInfo) string {
	for _, s := range o.secrets {
		if s.What == "" {
			continue
		}
		now, err := os.Stat(filepath.FromSlash(s.Path))
		switch {
		case err != nil:
		case os.SameFile(now, st):
			return s.What
		case now.IsDir() && st.Mode().IsRegular():
			if holds(filepath.FromSlash(s.Path), st) {
				return s.What
			}
		}
	}
	return ""
}

// File judges opening a file for a user, an agent or a model by all of its names: as it was
// asked for, and where that leads. st describes the file that was opened; nil if none is. A
// file that is denied must not be opened whatever the user says, and Reason says why. One
// that is Sensitive is opened only after the user agreed, and Why gives the reason.
func (p *Policy) File(st fs.FileInfo, asked ...string) agent.Ruling {
	var f file
	for _, name := range asked {
		place := p.place(name, "")
		f.names = append(f.names, place.names...)
		f.secret, f.alone = cmp.Or(f.secret, place.secret), cmp.Or(f.alone, place.alone)
		if now, err := os.Stat(filepath.FromSlash(f.names[len(f.names)-1])); st != nil && f.alone == "" &&
			(err != nil || !os.SameFile(now, st)) {
			f.alone = whyReplaced
		}
	}
	if f.secret == "" && st != nil {
		f.secret = p.sameAsSecret(st)
	}
	if f.secret != "" {
		return refused(f)
	}
	if other, linked := p.twin(st); linked && f.alone == "" {
		f.alone = fmt.Sprintf(whyTwin, other)
	}
	return agent.Ruling{Sensitive: f.alone != "", Why: f.alone}
}

// refused is the ruling about one of webchat's own secrets.
func refused(f file) agent.Ruling {
	return agent.Ruling{Decision: event.Deny, Rule: &event.Rule{BuiltIn: true, Covers: ownRule},
		Reason: fmt.Sprintf("%s is %s, which is never shown and never sent to a model.",
			filepath.Base(filepath.FromSlash(f.names[0])), f.secret)}
}

// twin returns the sensitive file that an opened file is a hard link to.
func (p *Policy) twin(st fs.FileInfo) (other string, ok bool) {
	if st == nil {
		return "", false
	}
	return p.links.Sensitive(st)
}

// holds reports whether a file is among those at the top of a folder.
func holds(folder string, st fs.FileInfo) bool {
	entries, _ := os.ReadDir(folder) // what can be read of it
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if !e.Type().IsRegular() {
			return false
		}
		info, err := e.Info()
		return err == nil && os.SameFile(info, st)
	})
}
