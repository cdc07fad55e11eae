package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
)

const (
	// DefaultTimeout is how long a hook may take.
	DefaultTimeout = 10 * time.Second
	// MaxOutput is how many bytes a command may print on standard output.
	MaxOutput = 64 << 10
	// MaxReason is how many bytes of a reason are kept.
	MaxReason = 4 << 10
)

// Event is a moment hooks can have a say in.
type Moment string

// The moments. A no to SessionStart, PromptSubmitted, BeforeTool and
// PermissionRequested keeps the thing from happening, one to AfterTool keeps the
// result from the model; SessionEnd and Error are only told.
const (
	SessionStart        Moment = "session_start" // before the agent of a session starts
	SessionEnd          Moment = "session_end"   // after it ended
	PromptSubmitted     Moment = "prompt_submitted"
	BeforeTool          Moment = "before_tool"
	AfterTool           Moment = "after_tool"
	Error               Moment = "error"                // what the user is told of
	PermissionRequested Moment = "permission_requested" // before an act is allowed or asked about
)

// Events returns all moments.
func Moments() []Moment {
	return []Moment{SessionStart, SessionEnd, PromptSubmitted, BeforeTool, AfterTool, Error, PermissionRequested}
}

// ofTool reports whether the moment is about a tool, which a matcher can match.
func (e Moment) ofTool() bool {
	return e == BeforeTool || e == AfterTool || e == PermissionRequested
}

// Call is a moment, as a command reads it.
type HookCall struct {
	// RequestID names the moment together with SessionID and Event; empty: every
	// Run is a moment of its own.
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Event     Moment `json:"event"`
	Tool      string `json:"tool,omitempty"`
	// Arguments are a tool's; of PermissionRequested what is asked about.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result is a tool's; of Error the message and its type.
	Result    json.RawMessage `json:"result,omitempty"`
	Prompt    string          `json:"prompt,omitempty"`
	Workspace string          `json:"workspace"` // Run sets it

	// ToolCallID is the call this is about, for the log; empty if that is not known.
	ToolCallID string `json:"-"`
	// Within parts moments whose ids are unique only there, as calls in a turn.
	Within string `json:"-"`
	// Fixed says that the arguments cannot be changed any more: a hook that
	// wants to denies.
	Fixed bool `json:"-"`
}

// Verdict is what hooks decided.
type HookVerdict struct {
	Allow     bool
	Reason    string          // of a no; never empty then
	Arguments json.RawMessage // nil: unchanged
	Prompt    string          // empty: unchanged
}

// Hook is one thing a user set.
type Hook struct {
	Event   Moment
	Matcher string // RE2, anchored, on the tool's name; empty: every tool
	Command string
	Dir     string        // where the command runs, absolute; empty: the workspace
	Timeout time.Duration // 0: DefaultTimeout
	// BestEffort lets sessions start on backends that do not ask about every
	// tool, although Event is BeforeTool.
	BestEffort bool
}

// Check says what is wrong with h, for the one who wrote it.
func (h Hook) Check() error {
	_, err := h.compile()
	return err
}

// compile returns the matcher.
func (h Hook) compile() (*regexp.Regexp, error) {
	switch {
	case !slices.Contains(Moments(), h.Event):
		return nil, fmt.Errorf("the event %q is none of %s", h.Event, words(Moments()))
	case strings.TrimSpace(h.Command) == "":
		return nil, errors.New("the command is missing")
	case strings.ContainsRune(h.Command, 0):
		return nil, errors.New("the command has a NUL character")
	case h.Dir != "" && !filepath.IsAbs(h.Dir):
		return nil, fmt.Errorf("the folder %q is not an absolute path", h.Dir)
	case h.Timeout < 0:
		return nil, fmt.Errorf("the timeout %v is negative", h.Timeout)
	}
	re, err := regexp.Compile(`^(?:` + h.Matcher + `)$`)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the matcher is not a regular expression: %w", err)
	case h.Matcher == "":
		return nil, nil
	case !h.Event.ofTool() && !re.MatchString(""):
		return nil, fmt.Errorf("the matcher %q would never match: %s is about no tool", h.Matcher, h.Event)
	}
	return re, nil
}

func words(events []Moment) string {
	var b strings.Builder
	for i, e := range events {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(e))
	}
	return b.String()
}

// Config is what a [Set] works with.
type HookConfig struct {
	Hooks     []Hook
	Workspace string   // absolute path
	Env       []string // the whole environment of commands
}

// Hooks runs what a user set around the moments of a session: commands that read JSON and may
// deny, or change what is about to happen. It is safe for concurrent use.
//
//   - Hooks come from [HookConfig] only; a workspace is never searched for them.
//   - Whatever is not a clear yes is a no: a command that cannot be started, crashes, takes too
//     long, prints something else than an answer or more than 64 KiB denies, and so does an
//     answer that changes what cannot be changed.
//   - Each run is reported as hook.start before it and hook.end after the command and everything
//     it started has ended, with what the hook changed. What cannot be reported does not run.
//   - A moment is decided once: a repeated request, also a concurrent one, gets the same verdict
//     without another run. If the request has other content than before, the verdict is no.
//
// A command runs by sh -c in the workspace, or in [Hook].Dir, in a process tree of its own
// (package proc), which is ended when it is done. Standard input is the [HookCall] as JSON.
// Standard output may be empty or
//
//	{"allow": true|false, "reason": "…", "arguments": {…}, "prompt": "…"}
//
// Exit 0 with nothing printed allows; exit 2 denies with standard error as the reason; every
// other status denies. "arguments" replace those of before_tool, "prompt" that of
// prompt_submitted. Hooks of one moment run in their order, each reads what those before it
// made, and the first no ends it.
type Hooks struct {
	HookConfig
	hooks []hook
	once  decisions
}

// hook is a Hook ready to run.
type hook struct {
	Hook
	matcher *regexp.Regexp // nil: everything
}

// New returns the hooks of c; the error names the one that is wrong.
func NewHooks(c HookConfig) (*Hooks, error) {
	if !filepath.IsAbs(c.Workspace) {
		return nil, fmt.Errorf("hooks: the workspace %q is not an absolute path", c.Workspace)
	}
	s := &Hooks{HookConfig: c}
	for i, h := range c.Hooks {
		re, err := h.compile()
		if err != nil {
			return nil, fmt.Errorf("hook %d: %w", i+1, err)
		}
		if h.Timeout == 0 {
			h.Timeout = DefaultTimeout
		}
		s.hooks = append(s.hooks, hook{h, re})
	}
	return s, nil
}

// Demands reports whether a hook for e insists on being asked every time.
func (s *Hooks) Demands(e Moment) bool {
	return slices.ContainsFunc(s.hooks, func(h hook) bool { return h.Event == e && !h.BestEffort })
}

// Run asks the hooks that match c, in their order, and reports hook.start and
// hook.end of each. Without one it allows. An error is report's and means no, as
// does the end of ctx, which ends the command that runs.
func (s *Hooks) Run(ctx context.Context, c HookCall, report func(event.Data) error) (HookVerdict, error) {
	c.Workspace = s.Workspace
	var mine []hook
	for _, h := range s.hooks {
		if h.Event == c.Event && (h.matcher == nil || h.matcher.MatchString(c.Tool)) {
			mine = append(mine, h)
		}
	}
	if len(mine) == 0 {
		return HookVerdict{Allow: true}, nil
	}
	return s.once.do(ctx, c, func() (HookVerdict, error) { return s.ask(ctx, mine, c, report) })
}

// ask runs hooks until one says no.
func (s *Hooks) ask(ctx context.Context, mine []hook, c HookCall, report func(event.Data) error) (HookVerdict, error) {
	all := HookVerdict{Allow: true}
	for _, h := range mine {
		v, err := s.one(ctx, h, c, report)
		if err != nil {
			return no("A hook could not be logged."), err
		}
		if !v.Allow {
			return v, nil
		}
		if v.Arguments != nil {
			c.Arguments, all.Arguments = v.Arguments, v.Arguments
		}
		if v.Prompt != "" {
			c.Prompt, all.Prompt = v.Prompt, v.Prompt
		}
	}
	return all, nil
}

// one runs one hook between its two events.
func (s *Hooks) one(ctx context.Context, h hook, c HookCall, report func(event.Data) error) (HookVerdict, error) {
	id := string(event.NewID())
	if err := report(event.HookStart{HookID: id, Event: string(h.Event), Command: h.Command, ToolCallID: c.ToolCallID}); err != nil {
		return HookVerdict{}, fmt.Errorf("log the start of a hook: %w", err)
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, h.Timeout, errTimeout)
	defer cancel()
	code, v := s.execute(limited, h, c)
	v = v.checked(c)
	err := report(event.HookEnd{HookID: id, Event: string(h.Event), Command: h.Command, ExitCode: code,
		DurationMs: time.Since(began).Milliseconds(), Allow: v.Allow, Reason: v.Reason, Arguments: v.Arguments, Prompt: v.Prompt})
	if err != nil {
		return HookVerdict{}, fmt.Errorf("log the end of a hook: %w", err)
	}
	return v, nil
}

var errTimeout = errors.New("the hook took too long")

// stopped is the verdict when ctx ended a hook.
func (h hook) stopped(ctx context.Context) HookVerdict {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return no("The hook did not answer within %v.", h.Timeout)
	}
	return no("The hook was stopped before it answered.")
}

// checked denies the call if the verdict changes what cannot be changed.
func (v HookVerdict) checked(c HookCall) HookVerdict {
	switch {
	case !v.Allow:
		return no("%s", v.Reason)
	case v.Arguments != nil && c.Event != BeforeTool:
		return no("The hook wants to change arguments, which only before_tool can.")
	case v.Arguments != nil && c.Fixed:
		return no("The hook wants to change the arguments, and this agent's calls cannot be changed.")
	case v.Prompt != "" && c.Event != PromptSubmitted:
		return no("The hook wants to change the prompt, which only prompt_submitted can.")
	}
	v.Reason = ""
	return v
}
