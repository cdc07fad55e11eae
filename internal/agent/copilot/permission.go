// What the CLI asks permission for, in the words of package agent, with what its call says beside:
// the CLI shows paths cleaned, and names of a search the folder only.

package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/policy"
)

// question is a request for permission that waits for its answer.
type question struct {
	RequestID         string
	PermissionRequest json.RawMessage
	ResolvedByHook    bool
	act               permissionRequest
}

// holdPatience is how long a request waits for the start of its call: of a helper in the background
// it may come before.
const holdPatience = 300 * time.Millisecond

// questions are what the CLI asks for permission. They belong to the loop.
type questions struct {
	c     *convo.Conversation
	reply func(ctx context.Context, method, requestID string, result any)
	acts  acts
	lock  func(act agent.Permission) (done func()) // notes an open question
}

// ask puts the CLI's question to the session under the name of the call it belongs to.
func (s *questions) ask(t *turn, q question) {
	if q.ResolvedByHook || !t.asks(q.RequestID) {
		return
	}
	if json.Unmarshal(q.PermissionRequest, &q.act) != nil {
		t.Spawn(func() {
			s.answer(t, q.RequestID, convo.Refused("The request could not be understood."))
		})
		return
	}
	t.held = append(t.held, &q)
	s.settle(t, nil)
	s.c.After(holdPatience, func() { s.settle(t, &q) })
}

// settle asks about the held requests whose calls have started, and about one that waits no longer.
func (s *questions) settle(t *turn, due *question) {
	t.held = slices.DeleteFunc(t.held, func(q *question) bool {
		x := s.acts.caller(t, q.act)
		if x == nil && q != due {
			return false
		}
		if x == nil {
			x = &execution{}
		}
		act := s.acts.permission(q, x)
		if x.granted.covers(q.act, act) {
			t.Spawn(func() { s.answer(t, q.RequestID, nil) })
			return true
		}
		t.Spawn(func() {
			if q.act.Kind != "hook" { // the CLI locks no file yet
				defer s.lock(act)()
			}
			refused := s.c.Permit(t.Ctx, act)
			if refused == nil {
				s.c.Do(func() { x.granted.add(q, act) }) // the next question may be about the same
			}
			s.answer(t, q.RequestID, refused)
		})
		return true
	})
}

// answer answers "once" or why not. A refusal without feedback would end the turn.
func (s *questions) answer(t *turn, id string, refused error) {
	answer := map[string]string{"kind": "approve-once"}
	if refused != nil {
		answer = map[string]string{"kind": "reject", "feedback": refused.Error()}
	}
	if t.Ctx.Err() == nil {
		s.reply(t.Ctx, "session.permissions.handlePendingPermissionRequest", id, answer)
	}
}

// acts understands what the CLI wants to do in a workspace.
type acts struct {
	workspace string
	tools     *toolbox
}

// caller returns the call a request belongs to, nil if it has not started. Where the request does
// not name it, it is the only one that does the same.
func (a acts) caller(t *turn, r permissionRequest) (found *execution) {
	if r.ToolCallID != "" {
		return t.running(r.ToolCallID)
	}
	for _, x := range t.calls.All() {
		if !x.open() || !x.does(r, a.workspace) {
			continue
		}
		if found != nil {
			return nil // ambiguous
		}
		found = x
	}
	return found
}

// permission is the CLI's wish in the session's words. A patch that moves a file is also about its
// old place, of which the CLI names the new one only. The digest covers all of the request but what
// changes from one call to the next. x is the call it belongs to, without a name if it has not
// started.
func (a acts) permission(q *question, x *execution) agent.Permission {
	r := q.act
	p := convo.Act{Permission: agent.Permission{
		ToolCallID: x.ID,
		ToolName:   x.Tool,
		Digest:     requestDigest(q.PermissionRequest),
		Cwd:        a.workspace,
	}}
	switch r.Kind {
	case "shell":
		p.Kind, p.Action, p.Resource, p.CwdUnknown = agent.KindShell, "run a command", r.FullCommandText,
			!a.tools.knowsFolder()
		p.ToolName = cmp.Or(p.ToolName, "bash")
	case "write":
		p.Kind, p.Diff, p.Sensitive = agent.KindWrite, r.Diff, r.FileName == ""
		writes(&p, r)
	case "read":
		p.Kind, p.Action, p.Resource = agent.KindRead, "read a file", r.Path
		if x.Tool != "" {
			x.describeSearch(&p.Permission)
		}
	case "url":
		p.ToolName, p.Kind, p.Action, p.Resource = cmp.Or(p.ToolName, "web_fetch"), agent.KindURL,
			"fetch an address", r.URL
	case "hook": // judge wanted it asked
		arguments := r.ToolArgs
		if x.changed {
			arguments = x.Args
		}
		if e, files := editOf(r.ToolName, arguments); len(files) > 0 {
			p.ToolName, p.Kind = r.ToolName, agent.KindWrite
			e.asks(&p, files)
		}
	}
	switch {
	case p.Resource == "":
		// a kind this version does not know: show all there is, and never decide it alone
		p.ToolName, p.Action, p.Resource, p.Sensitive = cmp.Or(p.ToolName, "copilot"),
			"do something of the kind "+r.Kind, compactJSON(q.PermissionRequest), true
		p.Kind = cmp.Or(p.Kind, agent.KindShell)
	case p.ToolName == "": // no rule by the name of the tool could hold
		p.ToolName, p.Sensitive = r.Kind, true
	}
	if p.Kind == agent.KindRead {
		p.Target = cmp.Or(p.Target, astray(p.Resource))
	}
	return p.Permission
}

// writes adds the files that a write is about, beginning with the one the CLI names.
func writes(p *convo.Act, r permissionRequest) {
	write := func(action, path string) {
		if path != "" {
			p.About(agent.Resource{
				Kind:     agent.KindWrite,
				Action:   action,
				Resource: path,
				Target:   astray(path),
			})
		}
	}
	write("write a file", r.FileName)
	for _, e := range r.FileEdits {
		if e.After.Path != e.Before.Path {
			write("move a file away", e.Before.Path)
		}
		write("write a file", e.Before.Path)
		write("write a file", e.After.Path)
	}
}

// astray returns where an absolute path leads, if ".." behind a link makes that another place than
// the same path has once it is cleaned; else nothing. The CLI shows such paths cleaned and opens
// them as they are.
func astray(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	if real := policy.Resolve(path); real != policy.Resolve(filepath.Clean(path)) {
		return real
	}
	return ""
}

// does reports whether a request may be one of this call's.
func (x *execution) does(r permissionRequest, workspace string) bool {
	var a struct{ Command, Path, URL string }
	if json.Unmarshal(x.Args, &a) != nil {
		return false
	}
	switch r.Kind {
	case "shell":
		return a.Command != "" && a.Command == r.FullCommandText
	case "write":
		return (x.Tool == "create" || x.Tool == "edit") &&
			inWorkspace(workspace, a.Path) == filepath.Clean(r.FileName)
	case "read":
		s, ok := searchOf(x.Tool, x.Args)
		return ok && slices.ContainsFunc(s.paths, func(p string) bool {
			return filepath.Clean(inWorkspace(workspace, p)) == filepath.Clean(r.Path)
		})
	case "url":
		return a.URL != "" && a.URL == r.URL
	case "hook":
		return x.Tool == r.ToolName
	}
	return false
}
