// Package agent defines the interfaces between a session and the agent that answers its prompts.
//
// A [Backend] is a kind of agent (the embedded offline one, GitHub Copilot CLI, an Agent Client
// Protocol program). It opens a [Conn], one live conversation, and hands it a [Host]: what a Conn
// may ask of its session. A [Tool] is something the session can do for the agent; it says what it
// would do ([Tool.Plan]) before it does it ([Action].Run), so that what was approved is what runs.
//
// The package has no implementation; every Backend passes agenttest.Run.
//
//	conn, err := backend.Open(ctx, agent.Options{...}, host)
//	...
//	err = conn.Prompt(ctx, agent.Prompt{MessageID: id, Content: "show me go.mod"})
//	...
//	err = conn.Close()
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"webchat/internal/event"
)

var (
	// ErrUnsupported is returned for a request this backend does not support.
	ErrUnsupported = errors.New("not supported by this backend")
	// ErrUnavailable is wrapped by Open when the backend cannot be used on this machine; the
	// message says what to do.
	ErrUnavailable = errors.New("backend unavailable")
	// ErrDied is wrapped by Prompt when the agent's process ended by itself. The session closes the
	// Conn and opens another for the next prompt.
	ErrDied = errors.New("agent ended")
)

// Broken is [ErrDied] of a conversation in which webchat failed on what the agent sent.
func Broken(title string) error {
	return fmt.Errorf(
		"%w: webchat failed on something that %s sent. The fault is webchat's, and its log says where. "+
			"Send the prompt again to go on", ErrDied, title)
}

// Backend is a kind of agent. Its methods may be called concurrently.
type Backend interface {
	// Name is short, lower-case and stable: sessions keep it in their log.
	Name() string
	// Info says what was found. It is quick and starts nothing that stays.
	Info(ctx context.Context) Info
	// Models lists the models a session may choose from; empty when the backend has no choice to
	// offer.
	Models(ctx context.Context) ([]Model, error)
	// Open starts a conversation. It returns when the conversation is ready for its first prompt,
	// with the tools of o offered and the tool "view" not, or fails. ctx bounds the opening only.
	// The caller closes the Conn.
	Open(ctx context.Context, o Options, host Host) (Conn, error)
}

// Forgetter is a Backend that keeps something of a session from one process to the next.
type Forgetter interface {
	// Forget removes what is kept of a session that was deleted. A session it does not know is no
	// error.
	Forget(ctx context.Context, sessionID string) error
}

// ToolNamer is a Backend that knows the names its own tools are called by.
type ToolNamer interface {
	// ToolNames returns the names, in any order: of all tools any of its conversations may be
	// offered, but not of the session's tools and of those of MCP servers.
	ToolNames() []string
}

// Instructor is a Backend whose agent loads files of the workspace with instructions.
type Instructor interface {
	// Instructions returns the absolute paths of the files a conversation in this workspace will
	// load. It starts nothing and takes no longer than reading a few folders.
	Instructions(workspace string) []string
}

// Info is what a Backend says about itself.
type Info struct {
	Available bool
	Version   string    // as the program prints it; empty if unknown
	Reason    string    // why it is unavailable and what to do, one sentence
	Intercept Intercept // how far hooks reach
	CanResume bool      // Options.Resume is honoured
	Counting  Counting  // how calls of its model are counted
	Account   string    // who is signed in, as far as that is known; empty: it is not
	// Lacks is what a user should know before they choose it, each in a few words that go on after
	// its name: "asks nothing before it reads files".
	Lacks []string
}

// Counting is how a backend lets the calls of its model be counted.
type Counting string

// The ways of counting.
const (
	// each begins with an assistant.turn_start and reports its usage
	CountsCalls Counting = ""
	// each begins with an assistant.turn_start; none reports its usage
	CountsSteps   Counting = "steps"
	CountsTurns   Counting = "turns"   // a turn reports the sum of its calls, if anything
	CountsNothing Counting = "nothing" // there is no model
)

// Intercept is how far hooks can reach into a backend's tool calls.
type Intercept string

// The reaches, from the furthest.
const (
	InterceptRewrite Intercept = "all+rewrite" // every call, and its arguments can be changed
	InterceptAll     Intercept = "all"
	InterceptAsked   Intercept = "asked-only" // only calls it asks permission for
	InterceptNone    Intercept = "none"
)

// Model is a language model one may choose.
type Model struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Options is what a conversation starts with.
type Options struct {
	SessionID string
	User      string // whose session it is; empty: of who runs the server
	Model     string // empty: the backend's default
	Mode      string // of its [Choices]; empty: the strictest in which the agent still asks
	Effort    string // of its [Choices]; empty: the model's own
	// Unasked says that the conversation may offer and take modes in which the agent acts without
	// asking.
	Unasked   bool
	Workspace string // absolute path
	Tools     []ToolSpec
	// Resume asks to go on with the conversation this session had in an earlier process. A backend
	// that cannot returns ErrUnsupported.
	Resume bool
}

// Conn is one live conversation. Prompt calls never overlap; all other methods may be called at any
// time from any goroutine.
type Conn interface {
	// Prompt runs one turn and returns when the agent is idle again. Everything that happens is
	// reported to the Host before Prompt returns; texts and calls without an end then end with it.
	// When ctx ends the turn is aborted: Prompt still waits until the agent has stopped (it must
	// within a second) and returns ctx's error. Any other error is one a person should read; the Conn
	// stays usable unless it wraps [ErrDied].
	Prompt(ctx context.Context, p Prompt) error
	// Steer adds a prompt to the running turn. It returns [ErrUnsupported] if the agent cannot or
	// no turn runs; the session then queues the prompt.
	Steer(ctx context.Context, p Prompt) error
	// SetModel changes the model from the next turn on.
	SetModel(ctx context.Context, model string) error
	// SetTitle gives the agent the session's title, where it keeps one.
	SetTitle(ctx context.Context, title string) error
	// Close ends the conversation and waits until nothing of it is left: no goroutine, no process,
	// no call to the Host. It may be called twice.
	Close() error
}

// Tasker is a Conn whose agent may leave work running in the background: tasks. A turn ends without
// waiting for them, and a stop of the turn leaves them alone. The Conn reports task.started once,
// task.output, and exactly one task.completed for each, at the latest before Close returns, which
// ends all of them with everything they started.
type Tasker interface {
	// AbortTask ends one task with everything it started; that it ended is reported. A task that
	// has ended, or never was, is not an error.
	AbortTask(ctx context.Context, taskID string) error
}

// Prompt is a user's message.
type Prompt struct {
	MessageID   string
	Content     string
	Attachments []Attachment
}

// Attachment is something that goes with a prompt. Either Path is set (an absolute path inside the
// workspace) or Data is.
type Attachment struct {
	Name     string
	MimeType string
	Path     string
	Data     []byte
}

// Host is what a Conn may ask of its session. All methods may be called concurrently, and only
// between Open and the end of Close.
type Host interface {
	// Report reports to the session what happened. The session stamps, logs and sends it; when Report
	// returns nil and the event is a logged one, it is durable. While the log cannot be written
	// Report waits, until it can or the turn has ended. A Conn reports in order and only these
	// types: session.error, .title_changed, .model_change, .mode_changed, .todos_changed,
	// .usage_info, .truncation, .compaction_*; task.*; assistant.*; tool.execution_*; subagent.*.
	// Others are refused with an error. The last three belong to a turn, or by their
	// parentToolCallId to a helper that is an open task; but assistant.usage may come at any time.
	//
	// Offsets of deltas are the Conn's to count, in UTF-8 bytes of its message.
	Report(ctx context.Context, data event.Data) error

	// CallTool runs a tool of the session for the agent: it logs tool.execution_start (unless the
	// Conn reported that of this call already), checks the arguments, asks hooks and permission,
	// runs the tool and logs tool.execution_complete. A tool that fails, is denied or unknown is a
	// Result, not an error; the error is ctx's, or that the session is closed.
	CallTool(ctx context.Context, call ToolCall) (Result, error)

	// AskPermission asks for permission to do something outside CallTool and returns when it is
	// decided and the decision is durable. A refusal is a Verdict.
	AskPermission(ctx context.Context, p Permission) (Verdict, error)

	// AskUser puts the agent's question to the user.
	AskUser(ctx context.Context, q Question) (Answer, error)

	// RunTurn runs a turn that the agent begins by itself, for example since a task ended; cause is
	// a sentence that says why. It waits until no other turn runs, logs turn.start, calls work,
	// which is to [Conn.Prompt] what ctx and the error are concerned, and returns work's error when
	// turn.end is logged. If ctx ends before work was called, or the session takes no turns any
	// more, work is not called and RunTurn returns an error.
	RunTurn(ctx context.Context, cause string, work func(ctx context.Context) error) error

	// RunHook runs the user's hooks for a moment only the backend sees: before_tool and after_tool
	// of its own tools (RequestID is the call's id), error, prompt_submitted. Without hooks it
	// allows. Changed arguments come back only where Info has InterceptRewrite. Our own tools'
	// hooks run in CallTool, once for each call id; a backend whose Intercept is InterceptAsked
	// need not ask: its hooks run with AskPermission.
	RunHook(ctx context.Context, h HookCall) (HookVerdict, error)
}

// ToolCall is an agent's call of a tool.
type ToolCall struct {
	ID               string // unique in the session
	Name             string
	Arguments        json.RawMessage
	ParentToolCallID string // of the helper agent that calls, if any
}

// Question is an agent's question to the user.
type Question struct {
	ToolCallID    string
	Question      string
	Detail        string // Markdown: what it is about, such as a plan; empty: nothing more
	Choices       []string
	AllowFreeform bool
}

// Answer is the user's answer to a Question.
type Answer struct {
	Text        string
	WasFreeform bool
	Answered    bool // false: there was no answer, the turn was stopped
}

// HookCall is a moment hooks may have a say in; see package hooks.
type HookCall struct {
	RequestID string // the same id is decided once
	Event     string // before_tool, after_tool, ...
	Tool      string
	Arguments json.RawMessage
	Result    json.RawMessage
	Prompt    string
}

// HookVerdict is what hooks decided.
type HookVerdict struct {
	Allow     bool
	Reason    string
	Arguments json.RawMessage // nil: unchanged
	Prompt    string          // empty: unchanged
	// of after_tool: a sentence for the model about what the call made; empty: none
	Held string
}

// ToolSpec is how a tool is offered to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
	UserOnly    bool            `json:"-"`          // no agent is offered it
	// Final says that the tool takes the argument final, a boolean: nothing is left to do or to say
	// after it. A backend whose agent can end a turn with its tools offers it;
	// others leave it out, since it would cost tokens for nothing.
	Final bool `json:"-"`
	// Needed reports whether the tool can be of use now; nil means that it always can. Of webchat's
	// own, once it reports true it goes on doing so: a backend that can change tools in a conversation
	// offers it from then on, one that cannot from the beginning. One of a Server is offered only
	// while it reports true, or by what it reports when the conversation opens.
	Needed func() bool `json:"-"`
	// Server is the user's MCP server whose tool it is; empty: it is webchat's own.
	Server string `json:"-"`
	Reads  bool   `json:"-"` // it changes nothing, as far as is known
}

// Tool is something a session can do for its agent or its user. Its methods may be called
// concurrently.
type Tool interface {
	Spec() ToolSpec
	// Plan decodes the arguments and says what would be done, without doing it. Arguments it cannot
	// accept are an error whose text is for the model and the user: it names the rule that was
	// broken.
	Plan(ctx context.Context, args json.RawMessage) (Action, error)
}

// Action is a planned act. Run does exactly what was planned, once.
type Action struct {
	// Ask is what has to be allowed before an agent may Run; nil means nothing. A user's own call is
	// not asked unless Ask.Sensitive.
	Ask *Permission
	// About says what Run does where Ask is nil, for the user's rules: one may deny it, or have it
	// asked. nil: no rule can be about it.
	About *Permission
	// Digest identifies what Run will do: SHA-256, hex.
	Digest string
	// Run acts. When ctx ends it stops, leaves nothing running, and returns the Result of what was
	// done until then with ctx's error in mind: Type is [Failed] and Kind says that it was aborted
	// or that its time was up.
	Run func(ctx context.Context, report Progress) (Result, error)
}

// Progress reports how far a running tool is. It never blocks for long.
type Progress func(ProgressReport)

// ProgressReport is what [Progress] reports, by this name for tools, which know this package only.
type ProgressReport = event.ToolExecutionProgress

// Toolset is the tools of one session, with what they left running.
type Toolset interface {
	Tools() []Tool
	// Close ends what the tools left running and waits for its end.
	Close() error
}

// Preparer is a Toolset that has to find out what it has before a conversation opens.
type Preparer interface {
	// Prepare returns when [Toolset.Tools] has all that there are. The error is ctx's.
	Prepare(ctx context.Context) error
}

// PageTools is a Toolset with tools that the page of their server may call, for which no model is
// needed.
type PageTools interface {
	// PageTool returns a server's tool for a call of its page. got is given what came of it, as the
	// server sent it; its Result is for no model either. The error says why the page may not call it.
	PageTool(ctx context.Context, server, name string, got func(json.RawMessage)) (Tool, error)
}

// CallInfo is what a Tool may know about the call it plans; see [WithCall].
type CallInfo struct {
	SessionID  string
	ToolCallID string
	By         event.Actor
	// Typed says that the user typed what the call runs. It is false for what an agent asked for,
	// also when the user repeats it.
	Typed bool
	// Outside says that the call is not confined, although an agent asked for it.
	Outside bool
	// Part marks a call that a shown text makes, for a picture in it, and not the user by name.
	Part    bool
	Started time.Time
	// Ask asks the user something on behalf of the tool; nil: they cannot be asked.
	Ask func(context.Context, Question) (Answer, error)
}

// Repeated reports whether the user runs what an agent had asked for.
func (c CallInfo) Repeated() bool { return c.By == event.ByUser && !c.Typed }

type callKey struct{}

// WithCall returns a context that carries c for [Tool.Plan] and [Action].Run.
func WithCall(ctx context.Context, c CallInfo) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// CallFrom returns what [WithCall] stored; the zero value if nothing.
func CallFrom(ctx context.Context) CallInfo {
	c, _ := ctx.Value(callKey{}).(CallInfo)
	return c
}
