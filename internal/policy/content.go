package policy

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/veil"
)

// contentHead is how much of a file is judged by what it holds, in bytes.
const contentHead = 64 << 10

// looksHeld says of a file what its content looks like.
const looksHeld = "holds what looks like a key or password"

// HoldsSecret reports whether a file with this name and content holds what looks like a key or password
// within its first 64 KiB. It is the one judge of content: of files that an act names, of uploads, and
// of git's settings. In source code names say little, so only what looks like a credential whatever it
// is set to counts there; in binary data nothing does.
func HoldsSecret(name string, content []byte) bool {
	content = content[:min(len(content), contentHead)]
	switch {
	case bytes.IndexByte(content, 0) >= 0:
		return false
	case isGitConfig(filepath.ToSlash(name)) && credential.Match(content):
		return true
	case isSource(name):
		return veil.Shaped(content)
	}
	return len(veil.FileSpans(name, content)) > 0
}

// Upload says of a file from elsewhere, in a sentence without its subject, why it goes to a model only
// after the user said so; empty if nothing hints at a secret.
func Upload(name string, content []byte) (looks string) {
	switch {
	case Sensitive(name):
		return "may hold secrets"
	case HoldsSecret(name, content):
		return looksHeld
	}
	return ""
}

// Named is [Policy.File] of an open file that an act names, which no list and no search does: where its
// names say nothing, its content decides. The Secret of the ruling is then the file.
func (p *Policy) Named(opened *os.File, asked ...string) agent.Ruling {
	st, err := opened.Stat()
	if err != nil {
		return agent.Ruling{Sensitive: true, Why: whyReplaced}
	}
	r := p.File(st, asked...)
	if r.Sensitive || r.Decision == event.Deny || !st.Mode().IsRegular() {
		return r
	}
	b, _ := io.ReadAll(io.NewSectionReader(opened, 0, contentHead)) // what can be read of it
	for _, name := range asked {
		_, targets := p.leads(name)
		if real := targets[len(targets)-1]; HoldsSecret(real, b) && !p.isTracked(real) {
			return agent.Ruling{Sensitive: true, Why: whyHolds, Secret: p.held(real)}
		}
	}
	return r
}

// look judges a file that an act names by its content, where its names say nothing.
func (p *Policy) look(f *file) {
	if f.secret != "" || f.alone == whyOwn || f.holds != nil {
		return
	}
	for _, name := range f.names {
		b, err := head(filepath.FromSlash(name), contentHead)
		if err == nil && HoldsSecret(name, b) && !p.isTracked(name) {
			f.alone, f.holds = whyHolds, p.held(f.names[len(f.names)-1])
			return
		}
	}
}

func (p *Policy) held(name string) *event.Secret {
	return &event.Secret{File: p.relative(name), Looks: looksHeld}
}

// isTracked reports whether a file is source code that git tracks: who wrote it shares it.
func (p *Policy) isTracked(name string) bool {
	return p.tracked != nil && isSource(name) && p.tracked(Resolve(filepath.FromSlash(name)))
}

func isSource(name string) bool {
	return slices.Contains(sources, strings.ToLower(path.Ext(filepath.ToSlash(name))))
}
