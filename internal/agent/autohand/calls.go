package autohand

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// call is a tool call of the CLI's own.
type call struct {
	id      string // in the session: those of providers may repeat
	tool    string
	args    json.RawMessage
	begun   bool // reported
	done    bool
	hooked  bool // the CLI asked its hooks about it
	asked   bool // the CLI asked for leave
	allowed bool // by the session, when the CLI asked its hooks
	ran     bool // the CLI said that it started
	silent  bool // it is told by other events
	wrote   []change
}

// take returns the call with an id of the CLI's, a new one if it is the first to hear
// of it; t.told is held.
func (t *turn) take(id, tool string, args json.RawMessage) *call {
	k := t.calls[id]
	if k == nil {
		k = &call{id: string(event.NewID()), tool: tool}
		t.calls[id] = k
		t.order = append(t.order, id)
	}
	if len(args) > 0 {
		k.args = args
	}
	return k
}

// latest returns the latest call of a tool that fits: the CLI's questions do not name
// their call.
func (t *turn) latest(tool string, fits func(*call) bool) *call {
	for _, id := range slices.Backward(t.order) {
		if k := t.calls[id]; k.tool == tool && fits(k) {
			return k
		}
	}
	return nil
}

// begin reports the start of a call, once.
func (c *conn) begin(t *turn, k *call) {
	if k.begun {
		return
	}
	k.begun = true
	t.running.Add(1)
	if len(k.args) == 0 {
		k.args = json.RawMessage("{}")
	}
	c.report(t.tell, event.ToolExecutionStart{ToolCallID: k.id, ToolName: k.tool, Arguments: k.args})
}

// complete reports the end of a call, once.
func (c *conn) complete(t *turn, k *call, d event.ToolExecutionComplete) {
	if k.done {
		return
	}
	c.begin(t, k)
	k.done = true
	t.running.Add(-1)
	d.ToolCallID = k.id
	c.report(t.tell, d)
}

// mine reports whether a tool is one of the session's, which tell of themselves: the name is
// of the server that the settings have for the session, and no other server has it. One that
// the folder defines under such a name is a command, which a helper would run.
func (c *conn) mine(tool string) bool {
	name, ok := strings.CutPrefix(tool, ours)
	return ok && slices.ContainsFunc(c.o.Tools, func(s agent.ToolSpec) bool { return s.Name == name }) && c.lineOf(&call{tool: tool}) == ""
}

// arguments are those of a call: the CLI adds the tool's name to some.
func arguments(args map[string]json.RawMessage, tool string) json.RawMessage {
	if text(args["type"]) == tool {
		args = maps.Clone(args)
		delete(args, "type")
	}
	b, err := json.Marshal(args)
	if err != nil || args == nil {
		return nil
	}
	return b
}

func (c *conn) toolStart(t *turn, n toolNotice) {
	if c.mine(n.ToolName) {
		return
	}
	k := t.take(n.ToolID, n.ToolName, nil)
	if !k.begun {
		k.args = arguments(n.Args, n.ToolName)
	}
	k.ran = true
	c.begin(t, k)
}

func (c *conn) toolEnd(t *turn, n toolNotice) {
	if c.mine(n.ToolName) {
		return
	}
	c.outcome(t, t.take(n.ToolID, n.ToolName, nil), n.Success, clean(text(n.Output)), clean(n.Error), "")
}

// failures are the kinds of the CLI's failures, as the session has them.
var failures = map[string]struct {
	code string
	kind event.ErrorKind
}{
	"authorization": {"denied", event.KindDenied},
	"validation":    {"failure", event.KindBadArguments},
	"aborted":       {"aborted", event.KindAborted},
}

// outcome reports what came of a call.
func (c *conn) outcome(t *turn, k *call, success bool, output, why, kind string) {
	if success {
		first := !k.done
		var diffs strings.Builder
		for _, w := range k.wrote {
			diffs.WriteString(diff(w.FilePath, w.OriginalContent, w.ProposedContent))
		}
		c.complete(t, k, event.ToolExecutionComplete{Success: true,
			Result: &event.ToolResult{Content: cmp.Or(output, "(The tool returned nothing.)"), DetailedContent: diffs.String()}})
		if first && k.background() {
			c.mu.Lock()
			c.behind = append(c.behind, k.input().command())
			c.mu.Unlock()
		}
		return
	}
	e := &event.ToolError{Message: cmp.Or(why, output, "The tool failed, and nothing says why."), Code: "failure", Kind: event.KindProvider}
	if f, known := failures[kind]; known {
		e.Code, e.Kind = f.code, f.kind
	}
	c.complete(t, k, event.ToolExecutionComplete{Error: e})
}

// stepEnd takes what a model call came to: what the model said beside its tool calls,
// and the calls of which nothing else is told, since they were refused.
func (c *conn) stepEnd(p *process, t *turn, s step) {
	if thought := clean(s.Step.Thought); thought != "" {
		id := string(event.NewID())
		c.report(t.tell, event.AssistantMessageDelta{MessageID: id, DeltaContent: thought})
		c.report(t.tell, event.AssistantMessage{MessageID: id, Content: thought, ToolRequests: c.requests(t, s)})
	}
	for i, r := range s.Step.ToolResults {
		if i >= len(s.Step.ToolCalls) {
			break
		}
		of := s.Step.ToolCalls[i]
		refused := r.Kind == "authorization" || r.Kind == "validation"
		if c.mine(of.Tool) && !refused {
			continue
		}
		k := t.take(of.ID, of.Tool, nil)
		if k.silent {
			continue
		}
		if !k.begun {
			k.args = arguments(of.Args, of.Tool)
		}
		c.outcome(t, k, r.Success, clean(text(r.Output)), clean(r.Error), r.Kind)
	}
	c.endStep(t)
	t.spawn(p, func() {
		if err := p.Call(t.tell, "autohand.stepDecision", object{"stepId": s.StepID, "stop": false}, nil); err != nil {
			c.b.cfg.Logger.Debug("the CLI did not take that its turn goes on", "error", err)
		}
	})
	c.nextStep(t)
}

// requests are the calls a model wished for.
func (c *conn) requests(t *turn, s step) (all []event.ToolRequest) {
	for _, of := range s.Step.ToolCalls {
		if k := t.calls[of.ID]; k != nil && !k.silent {
			all = append(all, event.ToolRequest{ToolCallID: k.id, Name: of.Tool, Arguments: arguments(of.Args, of.Tool)})
		}
	}
	return all
}

// spawn does something beside the reading of notices; t.told is held.
func (t *turn) spawn(p *process, f func()) {
	if !t.closing {
		t.work.Go(p.Contained(f))
	}
}

// held takes what the CLI holds back until the end of the turn.
func (c *conn) held(p *process, t *turn, method string, b batch) {
	t.batch = cmp.Or(b.BatchID, t.batch)
	switch method {
	case "changesBatchUpdate":
		t.changes = append(t.changes, b.Change)
		c.note(t)
		for _, id := range slices.Backward(t.order) { // it does not name its call
			if k := t.calls[id]; k.ran && !k.done && acts[k.tool].kind == agent.KindWrite && c.about(k, b.Change.FilePath) {
				k.wrote = append(k.wrote, b.Change)
				break
			}
		}
	case "changesBatchEnd":
		if b.ChangeCount > 0 {
			t.spawn(p, func() { c.accept(p, t) })
		}
		if b.ChangeCount == 0 {
			t.changes = nil
			c.note(t)
		}
	}
}

// absolute is a path as the CLI takes it.
func (c *conn) absolute(path string) string {
	if rest, home := strings.CutPrefix(path, "~"); home && (rest == "" || rest[0] == '/') {
		return filepath.Join(c.dir, "home", rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.o.Workspace, path)
}

// accept has the CLI write what it held back: each write was allowed before.
func (c *conn) accept(p *process, t *turn) {
	t.told.Lock()
	id := t.batch
	t.told.Unlock()
	var got decided
	err := p.Call(t.tell, "autohand.changesDecision", object{"batchId": id, "action": "accept_all"}, &got)
	t.told.Lock()
	defer t.told.Unlock()
	switch {
	case err != nil:
		return // finish tells what was lost
	case !got.Success:
		why := "the CLI does not say why"
		failed := map[string]bool{}
		for _, e := range got.Errors {
			failed[e.ChangeID], why = true, plain(e.Error)
		}
		var kept []change
		for _, change := range t.changes {
			if got.AppliedCount == 0 || failed[change.ID] {
				kept = append(kept, change)
			}
		}
		t.changes = kept
		c.lost(t, files(t.changes), why)
		return
	}
	t.changes = nil
	c.note(t)
}

// rescue has the CLI write what a turn that was stopped had held back, and was said to
// be written.
func (c *conn) rescue(p *process, t *turn) {
	t.told.Lock()
	open := len(t.changes) > 0
	t.told.Unlock()
	c.mu.Lock()
	alive := c.process == p && !c.closed
	c.mu.Unlock()
	if open && alive {
		c.accept(p, t)
	}
}

// lost tells of files that were not written; t.told is held.
func (c *conn) lost(t *turn, files []string, why string) {
	t.changes = nil
	c.note(t)
	c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindProvider,
		Message: "Autohand CLI did not write " + wording.Cut(strings.Join(files, ", "), 200) + ": " + why + ". Ask for it again."})
}

func files(changes []change) (names []string) {
	for _, one := range changes {
		names = append(names, one.FilePath)
	}
	return names
}

// note keeps which files are held back for the process after this one, which may be
// killed; t.told is held.
func (c *conn) note(t *turn) {
	var err error
	if name := filepath.Join(c.dir, "held"); len(t.changes) > 0 {
		err = os.WriteFile(name, []byte(strings.Join(files(t.changes), "\n")), 0o600)
	} else if err = os.Remove(name); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		c.b.cfg.Logger.Warn("which files are held back could not be noted", "agent", Name, "error", err)
	}
}

// recall tells of files that were held back when an earlier process of webchat ended.
func (c *conn) recall(t *turn) {
	t.told.Lock()
	defer t.told.Unlock()
	if names, err := os.ReadFile(filepath.Join(c.dir, "held")); err == nil {
		c.lost(t, strings.Split(string(names), "\n"), "webchat ended before")
	}
}
