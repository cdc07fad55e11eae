package copilot

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
)

// patched matches the names of files in the text that apply_patch takes.
var patched = regexp.MustCompile(`(?m)^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+?)\r?$`)

// editing is what a call of one of the CLI's tools that change files says.
type editing struct {
	Path     string
	FileText *string `json:"file_text"` // of create
	OldStr   string  `json:"old_str"`   // of edit
	NewStr   string  `json:"new_str"`
	Input    string  // of apply_patch
}

// editOf decodes a call; files are those it changes, as it names them, none if it is not an edit.
func editOf(tool string, arguments json.RawMessage) (e editing, files []string) {
	object, _ := asObject(arguments)
	if json.Unmarshal(object, &e) != nil {
		return e, nil
	}
	switch {
	case (tool == "create" || tool == "edit") && e.Path != "":
		return e, []string{e.Path}
	case tool == "apply_patch":
		for _, m := range patched.FindAllStringSubmatch(e.Input, -1) {
			files = append(files, m[1])
		}
	}
	return e, slices.Compact(files)
}

// diff is what the call changes in a file of that name.
func (e editing) diff(workspace, name string) string {
	if e.Input != "" {
		return e.Input
	}
	was, _, ok := convo.Content(inWorkspace(workspace, name))
	switch now := ""; {
	case e.FileText != nil:
		return convo.Diff(name, was, *e.FileText)
	case ok && e.OldStr != "" && strings.Count(was, e.OldStr) == 1:
		now = strings.Replace(was, e.OldStr, e.NewStr, 1)
		return convo.Diff(name, was, now)
	}
	return convo.Diff(name, e.OldStr, e.NewStr)
}

// asks adds what the call does to a question about it, which comes before the CLI looks for the
// files.
func (e editing) asks(p *convo.Act, files []string) {
	for _, name := range files {
		full := inWorkspace(p.Cwd, name)
		p.About(agent.Resource{Kind: agent.KindWrite, Action: "write a file",
			Resource: filepath.Clean(full), Target: astray(full)})
	}
	p.Diff = e.diff(p.Cwd, files[0])
}

// granted is what the session allowed of a call. The CLI asks about some acts twice, and about what
// a hook had it ask about once more.
type granted struct {
	files   []string
	digests []string
}

// add keeps what an allowed question is about.
func (g *granted) add(q *question, p agent.Permission) {
	g.digests = append(g.digests, p.Digest)
	if q.act.Kind != "hook" {
		return
	}
	for _, part := range p.Parts() {
		if part.Kind == agent.KindWrite {
			g.files = append(g.files, part.Resource)
		}
	}
}

// covers reports whether the session allowed already what a question of the call is about.
func (g *granted) covers(r permissionRequest, p agent.Permission) bool {
	switch {
	case slices.Contains(g.digests, p.Digest):
		return true
	case r.Kind != "write":
		return false
	}
	return !slices.ContainsFunc(p.Parts(), func(part agent.Permission) bool {
		return part.Sensitive || !slices.Contains(g.files, filepath.Clean(part.Resource))
	})
}
