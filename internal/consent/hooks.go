package consent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

const (
	// DefaultTimeout is how long a hook may take.
	DefaultTimeout = 10 * time.Second
	// MaxReason is how many bytes of a reason are kept.
	MaxReason = 4 << 10

	maxOutput   = 64 << 10 // bytes that a command may print on standard output
	maxVerdicts = 512      // verdicts that are remembered
)

// Moment is one that hooks can have a say in.
type Moment string

// The moments. A no to SessionStart, PromptSubmitted, BeforeTool and PermissionRequested keeps the
// thing from happening, one to AfterTool keeps the result from the model; SessionEnd and Error only
// inform.
const (
	SessionStart        Moment = "session_start" // before the agent of a session starts
	SessionEnd          Moment = "session_end"   // after it ended
	PromptSubmitted     Moment = "prompt_submitted"
	BeforeTool          Moment = "before_tool"
	AfterTool           Moment = "after_tool"
	Error               Moment = "error"                // what the user is shown
	PermissionRequested Moment = "permission_requested" // before an act is allowed or asked about
)

var (
	allMoments = []Moment{SessionStart, SessionEnd, PromptSubmitted, BeforeTool, AfterTool, Error,
		PermissionRequested}
	toolMoments = []Moment{BeforeTool, AfterTool, PermissionRequested} // which a matcher can match
)

// HookCall is a moment, as a command reads it.
type HookCall struct {
	// RequestID names the moment together with SessionID and Event; empty means Run makes one.
	RequestID string `json:"requestId"`
	SessionID string `json:"sessionId"`
	Event     Moment `json:"event"`
	Tool      string `json:"tool,omitempty"`
	// a tool's; of PermissionRequested what is asked about
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"` // a tool's; of Error the message and its type
	Prompt    string          `json:"prompt,omitempty"`
	Workspace string          `json:"workspace"` // Run sets it

	ToolCallID string `json:"-"` // for the log; empty if that is not known
	Within     string `json:"-"` // parts moments whose ids are unique only there, as calls in a turn
	// the arguments can no longer be changed: a hook that changes them denies
	Fixed bool `json:"-"`
}

// HookVerdict is what hooks decided; the reason of a no is never empty.
type HookVerdict = agent.HookVerdict

// changed returns c as a verdict changes it.
func changed(c HookCall, v HookVerdict) HookCall {
	if v.Arguments != nil {
		c.Arguments = v.Arguments
	}
	if v.Prompt != "" {
		c.Prompt = v.Prompt
	}
	return c
}

// Hook is one thing a user set.
type Hook struct {
	Event   Moment
	Matcher string // RE2, anchored, on the tool's name; empty: every tool
	Command string
	Dir     string        // where the command runs, absolute; empty: the workspace
	Timeout time.Duration // 0: DefaultTimeout
	// BestEffort lets sessions start on backends that do not ask about every tool, although Event
	// is BeforeTool.
	BestEffort bool
}

// Check reports what is wrong with h.
func (h Hook) Check() error {
	_, err := h.compile()
	return err
}

// compile returns the matcher; nil matches everything.
func (h Hook) compile() (*regexp.Regexp, error) {
	switch {
	case !slices.Contains(allMoments, h.Event):
		names := strings.Trim(fmt.Sprintf("%q", allMoments), "[]")
		return nil, fmt.Errorf("the event %q is none of %s", h.Event,
			strings.NewReplacer(`"`, "", " ", ", ").Replace(names))
	case strings.TrimSpace(h.Command) == "":
		return nil, errors.New("the command is missing")
	case strings.ContainsRune(h.Command, 0):
		return nil, errors.New("the command has a NUL character")
	case h.Dir != "" && !filepath.IsAbs(h.Dir):
		return nil, fmt.Errorf("the folder %q is not an absolute path", h.Dir)
	case h.Timeout < 0:
		return nil, fmt.Errorf("the timeout %v is negative", h.Timeout)
	case h.Matcher == "":
		return nil, nil
	}
	re, err := regexp.Compile(`^(?:` + h.Matcher + `)$`)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the matcher is not a regular expression: %w", err)
	case !slices.Contains(toolMoments, h.Event) && !re.MatchString(""):
		return nil, fmt.Errorf("the matcher %q would never match: %s is about no tool", h.Matcher,
			h.Event)
	}
	return re, nil
}

// HookConfig is what [Hooks] work with.
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

	mu    sync.Mutex // guards what follows
	made  map[string]*verdict
	order []string // of made, the oldest first
}

// hook is a Hook ready to run.
type hook struct {
	Hook
	matcher *regexp.Regexp // nil: everything
}

// verdict is that of one moment, made or in the making.
type verdict struct {
	asked, given [sha256.Size]byte // what was asked, and the same as the verdict changed it
	done         chan struct{}     // closed after given and what follows are set
	v            HookVerdict
	err          error
}

// NewHooks returns the hooks of c; the error names the one that is wrong.
func NewHooks(c HookConfig) (*Hooks, error) {
	if !filepath.IsAbs(c.Workspace) {
		return nil, fmt.Errorf("hooks: the workspace %q is not an absolute path", c.Workspace)
	}
	s := &Hooks{HookConfig: c, made: map[string]*verdict{}}
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

// Run asks the hooks that match c, in their order, and reports hook.start and hook.end of each.
// Without one it allows. An error is report's and means no, as does the end of ctx, which ends the
// command that runs.
func (s *Hooks) Run(ctx context.Context, c HookCall,
	report func(event.Data) error) (HookVerdict, error) {
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
	c.RequestID = cmp.Or(c.RequestID, string(event.NewID()))
	ruling, first := s.verdictOf(c)
	if !first {
		return ruling.again(ctx, content(c))
	}
	defer close(ruling.done) // also after a panic: then it is a no
	v, err := s.ask(ctx, mine, c, report)
	ruling.given, ruling.v, ruling.err = content(changed(c, v)), v, err
	return v, err
}

// verdictOf returns the verdict about a moment, and whether the caller is the first to need it and
// has to make it.
func (s *Hooks) verdictOf(c HookCall) (v *verdict, first bool) {
	key := strings.Join([]string{c.SessionID, c.Within, string(c.Event), c.RequestID}, "\x00")
	s.mu.Lock()
	defer s.mu.Unlock()
	if v = s.made[key]; v != nil {
		return v, false
	}
	v = &verdict{asked: content(c), done: make(chan struct{}), v: no("A hook failed.")}
	s.made[key] = v
	if s.order = append(s.order, key); len(s.order) > maxVerdicts {
		delete(s.made, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	return v, true
}

// again answers a repeated question. A question about what the verdict made of it needs no further
// change.
func (v *verdict) again(ctx context.Context, asked [sha256.Size]byte) (HookVerdict, error) {
	select {
	case <-v.done:
	case <-ctx.Done():
		return no("The hook was stopped before it answered."), nil
	}
	switch {
	case v.err != nil || !v.v.Allow, asked == v.asked:
		return v.v, v.err
	case asked == v.given:
		return HookVerdict{Allow: true}, nil
	}
	return no("It was asked about before, with other content."), nil
}

// content is the SHA-256 of everything c is about. JSON counts by its meaning.
func content(c HookCall) [sha256.Size]byte {
	b, _ := json.Marshal([][]byte{[]byte(c.Tool), event.Canonical(c.Arguments),
		event.Canonical(c.Result), []byte(c.Prompt)})
	return sha256.Sum256(b)
}

// ask runs hooks, each between its two events, until one says no.
func (s *Hooks) ask(ctx context.Context, mine []hook, c HookCall,
	report func(event.Data) error) (HookVerdict, error) {
	all := HookVerdict{Allow: true}
	for _, h := range mine {
		v, err := s.askOne(ctx, h, c, report)
		switch {
		case err != nil:
			return no("A hook could not be logged."), fmt.Errorf("log a hook: %w", err)
		case !v.Allow:
			return v, nil
		}
		c = changed(c, v)
		if v.Arguments != nil {
			all.Arguments = v.Arguments
		}
		if v.Prompt != "" {
			all.Prompt = v.Prompt
		}
	}
	return all, nil
}

func (s *Hooks) askOne(ctx context.Context, h hook, c HookCall,
	report func(event.Data) error) (HookVerdict, error) {
	start := event.HookStart{
		HookID:     string(event.NewID()),
		Event:      string(h.Event),
		Command:    h.Command,
		ToolCallID: c.ToolCallID,
	}
	if err := report(start); err != nil {
		return HookVerdict{}, err
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, h.Timeout, errTimeout)
	defer cancel()
	code, v := s.execute(limited, h, c)
	v = checked(v, c)
	return v, report(event.HookEnd{
		HookID:     start.HookID,
		Event:      start.Event,
		Command:    h.Command,
		ExitCode:   code,
		DurationMs: time.Since(began).Milliseconds(),
		Allow:      v.Allow,
		Reason:     v.Reason,
		Arguments:  v.Arguments,
		Prompt:     v.Prompt,
	})
}

// checked denies the call if the verdict changes what cannot be changed.
func checked(v HookVerdict, c HookCall) HookVerdict {
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
