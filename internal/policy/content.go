package policy

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/veil"
)

// contentHead is how much of a file is judged by what it holds, in bytes.
const contentHead = 64 << 10

// looksHeld says of a file what its content looks like.
const looksHeld = "holds what looks like a key or password"

// HoldsSecret reports whether a file with this name and content holds what looks like a key or
// password within its first 64 KiB. It is the one judge of content: of files that an act names, of
// uploads, and of git's settings. In source code names say little, so only what looks like a
// credential whatever it is set to counts there, and in binary data.
func HoldsSecret(name string, content []byte) bool {
	content = plainText(content[:min(len(content), contentHead)])
	switch {
	case bytes.IndexByte(content, 0) >= 0:
		return veil.Shaped(content)
	case isGitConfig(filepath.ToSlash(name)) && credential.Match(content):
		return true
	case isSource(name):
		return veil.Shaped(content)
	}
	return len(veil.FileSpans(name, content)) > 0
}

// plainText is text as UTF-8: in UTF-16 each second byte of most texts is 0.
func plainText(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}), len(b) >= 8 && zeros(b[:8], 1):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}), len(b) >= 8 && zeros(b[:8], 0):
		order = binary.BigEndian
	default:
		return b
	}
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return []byte(strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff"))
}

// zeros reports whether each second byte from the one at first is 0, and no other.
func zeros(b []byte, first int) bool {
	for i, c := range b {
		if (c == 0) != (i%2 == first) {
			return false
		}
	}
	return true
}

// Upload says of a file from elsewhere, in a sentence without its subject, why it goes to a model
// only after the user agreed; empty if nothing hints at a secret.
func Upload(name string, content []byte) (looks string) {
	switch {
	case Sensitive(name):
		return "may hold secrets"
	case HoldsSecret(name, content):
		return looksHeld
	}
	return ""
}

// Named is [Policy.File] of an open file that an act names, which no list and no search does: where
// its names say nothing, its content decides. The Secret of the ruling is then the file.
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
