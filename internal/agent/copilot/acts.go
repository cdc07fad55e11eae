// What the CLI asks permission for, in the words of package agent, with what its call says
// beside: the CLI shows paths cleaned, and names of a search the folder only.

package copilot

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/policy"
)

// nativeCall is a tool call.
type nativeCall struct {
	ID        string
	Tool      string
	Arguments json.RawMessage // an object, as hooks left it
	Without   []string        // sensitive files that its search leaves out
}

// permissionOf is the CLI's wish in the session's words. A patch that moves a file is also
// about its old place, of which the CLI names the new one only. The digest covers
// all of the request but what changes from one call to the next.
//
// of is the call it belongs to, without a tool if it has not started. rooted says that
// commands begin in the workspace; else where they do is not known.
func permissionOf(raw json.RawMessage, r permissionRequest, of nativeCall, workspace string, rooted bool) agent.Permission {
	p := agent.Permission{ToolCallID: of.ID, ToolName: of.Tool, Digest: requestDigest(raw), Cwd: workspace}
	switch r.Kind {
	case "shell":
		p.Kind, p.Action, p.Resource, p.CwdUnknown = agent.KindShell, "run a command", r.FullCommandText, !rooted
		p.ToolName = cmp.Or(p.ToolName, "bash")
	case "write":
		p.Kind, p.Action, p.Resource, p.Diff = agent.KindWrite, "write a file", r.FileName, r.Diff
		p.Also = furtherEdits(r)
	case "read":
		p.Kind, p.Action, p.Resource = agent.KindRead, "read a file", r.Path
		if of.Tool != "" {
			of.describeSearch(&p)
		}
	case "url":
		p.ToolName, p.Kind, p.Action, p.Resource = cmp.Or(p.ToolName, "web_fetch"), agent.KindURL, "fetch an address", r.URL
	case "mcp":
		p.ToolName, p.Server = cmp.Or(p.ToolName, r.ToolName), r.ServerName
		p.Kind, p.Action, p.Resource = agent.KindMCP, "use a tool of the MCP server "+r.ServerName, r.ToolName+" "+compactJSON(r.Args)
	}
	switch {
	case p.Resource == "": // a kind this version does not know: show all there is, and never decide it alone
		p.ToolName, p.Action, p.Resource, p.Sensitive = cmp.Or(p.ToolName, "copilot"), "do something of the kind "+r.Kind, compactJSON(raw), true
		p.Kind = cmp.Or(p.Kind, agent.KindShell)
	case p.ToolName == "": // no rule by the name of the tool could hold
		p.ToolName, p.Sensitive = r.Kind, true
	}
	if p.Kind == agent.KindRead || p.Kind == agent.KindWrite {
		p.Target = cmp.Or(p.Target, astray(p.Resource))
	}
	return p
}

// furtherEdits are the files a write is about beside the one the CLI names.
func furtherEdits(r permissionRequest) (all []agent.Resource) {
	known := []string{"", r.FileName}
	add := func(action, path string) {
		if !slices.Contains(known, path) {
			known = append(known, path)
			all = append(all, agent.Resource{Kind: agent.KindWrite, Action: action, Resource: path, Target: astray(path)})
		}
	}
	for _, e := range r.FileEdits {
		if e.After.Path != e.Before.Path {
			add("move a file away", e.Before.Path)
		}
		add("write a file", e.Before.Path)
		add("write a file", e.After.Path)
	}
	return all
}

// astray returns where an absolute path leads, if ".." behind a link makes that
// another place than the same path has once it is cleaned; else nothing. The CLI
// shows such paths cleaned and opens them as they are.
func astray(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	if real := policy.Resolve(path); real != policy.Resolve(filepath.Clean(path)) {
		return real
	}
	return ""
}

// Does reports whether a request may be one of this call's.
func (c nativeCall) Does(r permissionRequest, workspace string) bool {
	var a struct{ Command, Path, URL string }
	if json.Unmarshal(c.Arguments, &a) != nil {
		return false
	}
	switch r.Kind {
	case "shell":
		return a.Command != "" && a.Command == r.FullCommandText
	case "write":
		return (c.Tool == "create" || c.Tool == "edit") && inWorkspace(workspace, a.Path) == filepath.Clean(r.FileName)
	case "read":
		s, ok := searchOf(c.Tool, c.Arguments)
		return ok && slices.ContainsFunc(s.paths, func(p string) bool { return filepath.Clean(inWorkspace(workspace, p)) == filepath.Clean(r.Path) })
	case "url":
		return a.URL != "" && a.URL == r.URL
	case "mcp":
		return c.Tool == r.ToolName
	}
	return false
}
