package copilot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// hooks has the session's hooks decide on the calls of the CLI's own tools, before and after, and
// keeps sensitive files out of what is searched. For the session's tools the session does that
// itself.
type hooks struct {
	c        *convo.Conversation
	turns    *turns
	acts     acts
	hits     searchHits
	confined bool
	// large is where the CLI saves the results of the session that are too large for its model: with
	// what it keeps of the session, so that it ends with that. Its searches fail while the folder does
	// not exist, its other tools make it (1.0.102). So it is made before each call, and not when the
	// conversation opens: a session without a prompt leaves nothing.
	large string
	most  int // tokens of a result that is not large; 0: none is

	early []rewrite // of calls that have not started; it belongs to the loop
}

func (s *hooks) ask(h hookRequest) *hookOutput {
	arguments, asGiven := asObject(h.Input.ToolArgs)
	call := agent.HookCall{
		RequestID: string(event.NewID()),
		Tool:      h.Input.ToolName,
		Arguments: arguments,
		Result:    h.Input.ToolResult,
	}
	switch {
	case s.acts.tools.owns(h.Input.ToolName):
	case h.HookType == "preToolUse":
		return s.before(call, asGiven)
	case h.HookType == "postToolUse", h.HookType == "postToolUseFailure":
		return s.after(call)
	}
	return nil
}

func denied(why string) *hookOutput {
	return &hookOutput{PermissionDecision: "deny", PermissionDecisionReason: why}
}

func (s *hooks) before(call agent.HookCall, asGiven func(json.RawMessage) any) *hookOutput {
	call.Event, call.Result = "before_tool", nil
	var x *execution
	t, done := s.turns.within(func(t *turn) bool {
		if x = t.find(call, func(x *execution) bool { return !x.hooked }); x != nil {
			call.RequestID, x.hooked = x.ID, true
		}
		return x != nil
	})
	if t == nil { // no turn in which the user could be asked
		return denied("No turn runs.")
	}
	defer done()
	changed, err := s.c.Hooked(t.Ctx, call)
	if e := os.MkdirAll(s.large, 0o700); e != nil {
		s.c.Logger.Warn("copilot: the folder for large results cannot be made", "error", e)
	}
	if err != nil {
		return denied(err.Error())
	}
	r := rewrite{tool: call.Tool, made: call.Arguments, changed: changed}
	arguments := call.Arguments
	if r.changed != nil {
		arguments = r.changed
	}
	if less, names := leaveOut(t.Ctx, s.acts.workspace, call.Tool, arguments, s.hits); less != nil {
		r.changed, r.without = less, names
	} else if less := attached(call.Tool, arguments); less != nil {
		r.changed = less
	}
	if r.changed != nil {
		arguments = r.changed
	}
	out := s.judge(t, x, call.Tool, arguments)
	if r.changed != nil {
		s.c.Post(func() { s.rewritten(t, x, r) }) // before the CLI asks for permission
	}
	if r.changed != nil && (out == nil || out.PermissionDecision != "deny") {
		out = cmp.Or(out, &hookOutput{})
		out.ModifiedArgs = asGiven(r.changed)
	}
	return out
}

// attached returns the arguments with which a command that was to be detached from the CLI stays
// its child, in the background; nil where nothing changes. A detached one would be out of reach:
// the CLI ends its shell only, where there is no program pgrep, and what it prints lies in the
// folder for temporary files, for everybody to read (1.0.102).
func attached(tool string, arguments json.RawMessage) json.RawMessage {
	var fields map[string]any
	if !isShell(tool) || json.Unmarshal(arguments, &fields) != nil || fields["detach"] == nil ||
		fields["detach"] == false {
		return nil
	}
	delete(fields, "detach")
	fields["mode"] = "async"
	changed, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return changed
}

func isShell(tool string) bool { return tool == "bash" || tool == "powershell" }

// rewrite is what was made of the arguments of a call.
type rewrite struct {
	tool          string
	made, changed json.RawMessage // the latter nil: they are as they were made
	without       []string        // sensitive files that its search leaves out
}

// of gives a call what was made of it.
func (r rewrite) of(x *execution) {
	x.changed, x.without = true, r.without
	if r.changed != nil {
		x.Args = r.changed
	}
}

// maxEarly is how many rewrites wait for the starts of their calls.
const maxEarly = 32

// rewritten keeps what became of a call. That a helper's call starts is reported while its hooks
// are asked, or behind that.
func (s *hooks) rewritten(t *turn, x *execution, r rewrite) {
	if x == nil {
		x = t.find(agent.HookCall{Tool: r.tool, Arguments: r.made}, func(x *execution) bool {
			return !x.changed
		})
	}
	if x != nil {
		r.of(x)
		return
	}
	early := s.early
	s.early = append(early[max(0, len(early)-maxEarly+1):], r)
}

// callBegan gives a call that starts what was made of it before.
func (s *hooks) callBegan(x *execution) {
	i := slices.IndexFunc(s.early, func(r rewrite) bool {
		return r.tool == x.Tool && convo.SameJSON(r.made, x.Args)
	})
	if i >= 0 {
		s.early[i].of(x)
		s.early = slices.Delete(s.early, i, i+1)
	}
}

// find returns a running call by what hooks learn of it, which is not its id.
func (t *turn) find(call agent.HookCall, also func(*execution) bool) *execution {
	for _, x := range t.calls.All() {
		if x.Tool == call.Tool && x.open() && also(x) && convo.SameJSON(x.Args, call.Arguments) {
			return x
		}
	}
	return nil
}

func (s *hooks) after(call agent.HookCall) *hookOutput {
	call.Event = "after_tool"
	var without, words []string
	id := ""
	t, done := s.turns.within(func(t *turn) bool {
		x := t.find(call, func(x *execution) bool { return !x.ended })
		if x != nil {
			id, without, x.ended = x.ID, x.without, true
		}
		return x != nil
	})
	if t == nil {
		return nil
	}
	defer done()
	if len(without) > 0 {
		words = append(words, "Not searched, since they may hold keys or passwords: "+
			strings.Join(without, ", ")+". Name such a file to ask for it.")
	}
	v, err := s.c.Host.RunHook(t.Ctx, call)
	switch {
	case err != nil:
		words = append(words, "The hooks could not be asked.")
	case !v.Allow:
		words = append(words, v.Reason)
	case v.Held != "":
		words = append(words, v.Held)
	}
	out := &hookOutput{AdditionalContext: strings.Join(words, "\n")}
	if r, ok := s.resultOf(call.Result); ok {
		if less := s.keep(t.Ctx, id, call, r); less != nil {
			out.ModifiedResult = less
			return out
		}
	}
	if len(words) == 0 {
		return nil
	}
	return out
}

// keep gives the user the whole of a large result, and returns the result as the model gets it; nil
// lets it have all.
func (s *hooks) keep(ctx context.Context, id string, call agent.HookCall, r *result) any {
	var of struct{ Command string }
	_ = json.Unmarshal(call.Arguments, &of) // other tools have none
	whole := agent.Whole{
		ToolCallID: id,
		Name:       cmp.Or(of.Command, call.Tool),
		Cwd:        s.acts.workspace,
		ExitCode:   r.exitCode,
	}
	short, err := "", error(nil)
	whole.Data, err = r.read()
	text := string(whole.Data)
	if k, ok := s.c.Host.(agent.Keeper); !ok || id == "" {
		err = errors.New("there is no call to keep it for")
	} else if err == nil {
		short, err = k.Keep(ctx, whole)
	}
	if short != "" {
		err = errors.Join(err, s.acts.tools.add(ctx)) // what reads the rest
	}
	if err != nil {
		s.c.Logger.Warn("copilot: a large result was not kept", "error", err)
	}
	switch {
	case r.file == "" && short == "":
		return nil
	case err != nil && short == "":
		return r.saying(
			fmt.Sprintf(
				"Too large to read at once: %s. It is in %s: search it with grep, or read parts of it with "+
					"head, tail or sed.\n\n%s", r.size, r.file, r.text))
	case r.file != "":
		_ = os.Remove(r.file) // else it ends with what the CLI keeps of the session
	}
	return r.saying(strings.TrimSuffix(cmp.Or(short, text), "\n") + "\n" + r.status)
}

// maxWhole is how many bytes of a result are taken; a larger one stays in its file.
const maxWhole = 32 << 20

// cutNote is how the text for the model begins that stands for a large result. Behind it come the
// first 500 characters and how a command ended.
var cutNote = regexp.MustCompile(
	`^Output too large to read at once \(([^)\n]*)\)\. Saved to: ([^\n]+)\n[^\n]*\n`)

// ended is the line in which the CLI says how a command ended.
var ended = regexp.MustCompile(`(?:^|\n)(<[^\n<>]*>)\n?$`)

// result is the result of a tool as hooks get it. One that is too large for the CLI is saved by it
// in a file, and its model is to read where that is, the beginning, and the advice to use its tool
// view; or, of a search, an excerpt that says how much it omits, while only its telemetry names the
// file.
type result struct {
	exitCode *int // of a command that ended
	file     string
	fields   map[string]json.RawMessage
	size     string
	text     string // for the model, without the note and the status
	status   string // how a command ended
}

// resultOf reads a result that may be large for a model; false: it is not. Only a file that lies
// directly in the folder of large results is believed to hold one: any command can print a note.
func (s *hooks) resultOf(raw json.RawMessage) (*result, bool) {
	r := &result{}
	var known struct {
		Type     string `json:"resultType"`
		Text     string `json:"textResultForLlm"`
		Contents []struct{ ExitCode *int }
		Of       struct {
			Private struct {
				File string `json:"large_output_file"`
			} `json:"restrictedProperties"`
			Metrics struct {
				Size float64 `json:"result_length_original"`
			}
		} `json:"toolTelemetry"`
	}
	if json.Unmarshal(raw, &known) != nil || json.Unmarshal(raw, &r.fields) != nil {
		return nil, false
	}
	if m := cutNote.FindStringSubmatch(known.Text); m != nil {
		r.size, r.file, r.text = m[1], m[2], strings.TrimLeft(known.Text[len(m[0]):], "\n")
	} else {
		r.size, r.file, r.text = wording.Size(int64(known.Of.Metrics.Size)), known.Of.Private.File,
			known.Text
	}
	for _, part := range known.Contents {
		r.exitCode = cmp.Or(part.ExitCode, r.exitCode)
	}
	if m := ended.FindStringSubmatchIndex(r.text); m != nil && r.exitCode != nil {
		r.text, r.status = r.text[:m[0]], r.text[m[2]:m[3]]
	}
	if filepath.Dir(r.file) == filepath.Clean(s.large) {
		return r, true
	}
	r.file, r.text = "", strings.TrimSuffix(known.Text, r.status)
	return r, known.Type == "success" && s.most > 0 && len(known.Text) > s.most
}

// read returns the whole result.
func (r *result) read() ([]byte, error) {
	if r.file == "" {
		return []byte(r.text), nil
	}
	root, err := os.OpenRoot(filepath.Dir(r.file))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, at, err := policy.Open(root, filepath.Base(r.file)) // nothing a link out of the folder leads to
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was read only
	if !at.Mode().IsRegular() || at.Size() > maxWhole {
		return nil, fmt.Errorf("it is in a file of %d bytes, %v", at.Size(), at.Mode())
	}
	return io.ReadAll(io.LimitReader(f, maxWhole))
}

// saying returns the result with another text for the model.
func (r *result) saying(what string) map[string]json.RawMessage {
	out := maps.Clone(r.fields)
	text, err := json.Marshal(what)
	if err != nil {
		return out
	}
	out["textResultForLlm"] = text
	if out["sessionLog"] != nil { // the same words, for the user
		out["sessionLog"] = text
	}
	return out
}
