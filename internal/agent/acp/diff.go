package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// proposal is what a call would change in files, before it does.
func (k *call) proposal(workspace string) string { return k.diff(workspace, before) }

// outcome is what a call changed in files, after it did. What was known before counts where the
// file no longer shows.
func (k *call) outcome(workspace string) string {
	if d := k.diff(workspace, after); k.proposed == "" ||
		slices.ContainsFunc(event.ParseDiff(d), event.Edit.Placed) {
		return d
	}
	return k.proposed
}

// diff is what a call changes in files, as a unified diff. Agents report a whole file or a piece
// of it, so the file itself says in which lines that is. Where it does not, all that goes is
// followed by all that comes, without numbers.
func (k *call) diff(workspace string,
	whole func(p part, file string, exists bool) (was, now string, ok bool)) string {
	if !slices.ContainsFunc(k.content, func(p part) bool { return p.Type == "diff" }) {
		var in struct{ Diff string }
		_ = json.Unmarshal(k.RawInput, &in) // most have none
		return strings.ToValidUTF8(strings.TrimLeft(in.Diff, "\n"), "\uFFFD")
	}
	var b strings.Builder
	for _, p := range k.content {
		if p.Type != "diff" {
			continue
		}
		name := p.Path
		if rel, err := filepath.Rel(workspace, name); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
		hunks := ""
		if file, exists, ok := convo.Content(convo.In(workspace, p.Path)); ok {
			if was, now, ok := whole(p, file, exists); ok {
				hunks = convo.Hunks(was, now)
			}
		}
		if hunks == "" {
			hunks = signed("-", text(p.OldText)) + signed("+", text(p.NewText))
		}
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", name, name, hunks)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// before returns a file's text before an edit and after it, by what it holds before.
func before(p part, file string, exists bool) (was, now string, ok bool) {
	switch was, now = text(p.OldText), text(p.NewText); {
	case len(now) > convo.MostDiffed:
		return "", "", false
	case p.OldText == nil || file == "":
		return file, now, exists || was == ""
	}
	return file, strings.Replace(file, was, now, 1), once(file, was)
}

// after returns the same by what the file holds after the edit.
func after(p part, file string, exists bool) (was, now string, ok bool) {
	switch was, now = text(p.OldText), text(p.NewText); {
	case p.OldText == nil || len(was) > convo.MostDiffed:
		return "", "", false
	case file == "":
		return was, file, now == ""
	}
	return strings.Replace(file, now, was, 1), file, once(file, now)
}

// once reports whether a text has a piece at one place only.
func once(text, piece string) bool { return piece != "" && strings.Count(text, piece) == 1 }

func text(of *string) string {
	if of == nil {
		return ""
	}
	return *of
}

// signed is a text with a sign before each of its lines.
func signed(sign, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
