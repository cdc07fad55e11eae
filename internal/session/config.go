package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What callers may ask errors.Is about, beside the errors of packages eventlog and consent.
var (
	// ErrEmpty: a prompt without content and attachments.
	ErrEmpty = errors.New("the prompt is empty")
	// ErrTooLong: a prompt over [MaxPrompt] bytes.
	ErrTooLong = errors.New("the prompt is too long")
	// ErrBusy: the queue of the session is full.
	ErrBusy = errors.New("too many prompts are waiting")
	// ErrWorking: it cannot be while a turn runs or a prompt waits.
	ErrWorking = errors.New("a turn runs")
	// ErrNoTurn: a backend reported work while no turn runs.
	ErrNoTurn = errors.New("no turn runs")
)

// Limits of one session.
const (
	MaxPrompt = 512 << 10 // bytes of a prompt
	MaxQueue  = 100       // prompts that wait
)

// Policy rules on acts and on files. Its methods may be called concurrently.
type Policy interface {
	consent.Policy
	Judge
}

// Config is what a session works with. Log, Backend, Context, Owner and Workspace are needed.
type Config struct {
	Log    eventlog.Store
	Drafts eventlog.Drafts // nil: a kill loses messages in flight
	Owner  eventlog.Owner

	Backend   agent.Backend // nil: it is no longer set up, so the session can only be read
	Workspace string        // absolute path
	// Context says where the workspace is now.
	Context func() event.Context

	// AgentIdle is after how long without a turn, a task or a subscriber the agent's conversation
	// is closed, to be resumed by the next prompt. 0: it stays open.
	AgentIdle time.Duration
	// SnapshotWait is how long a prompt waits for a snapshot, and how long an act; 0 means 2 s
	// and 10 s.
	SnapshotWait time.Duration
	// DraftPause is between two saves of the messages in flight; 0 means 250 ms.
	DraftPause time.Duration

	// Tools makes the tools of one session, when it first needs them; they are closed with the
	// session. nil: none.
	Tools func(id eventlog.ID) (agent.Toolset, error)
	// Hooks has a say before and after events. nil allows.
	Hooks Hooks
	// Policy rules on what agents do before the user is asked, and on what goes with prompts.
	// nil: every act is asked about, each time.
	Policy Policy
	// Kept holds the grants of the workspace. nil: a grant ends with its session.
	Kept consent.Kept

	// Refused returns what an agent's own command, which began in the workspace, says by its exit code
	// and what it printed that the sandbox refused it. nil: nothing is confined.
	Refused func(command string, exit int, text string) []event.SandboxRefused

	// Cage confines what agents run in the workspace. nil: nothing does.
	Cage consent.Cage
	// Confined says that it holds what the agent does by its own means, too.
	Confined bool

	// Snapshots keep what the workspace is before a turn acts, and at its end. nil: none are kept.
	Snapshots Snapshots

	// Beside is shared by sessions that say of each other which files they change. nil: none does.
	Beside *Beside

	// Holder finds what agents made that takes effect later by itself. nil: nothing is confined.
	Holder Holder

	Attachments Uploads           // nil: uploads are refused
	Outputs     AttachableOutputs // nil: outputs cannot be attached

	Permissions       consent.Mode  // anything but allow and deny: ask
	PermissionTimeout time.Duration // 0: five minutes

	// Budget is what a session without one of its own may take; zero: anything.
	Budget event.Budget
	// Day is what all sessions may take on a day. nil: anything.
	Day *Day
	// Cost is what calls of a model cost, in dollars; known is false where its prices are not. nil:
	// none are.
	Cost func(model string, u event.Usage) (dollars float64, known bool)

	// Notice returns a line that the user should read once an agent of theirs was started; empty if
	// there is none, or it was returned before. nil: there never is one.
	Notice func() string

	Logger *slog.Logger     // nil: slog.Default()
	Now    func() time.Time // nil: time.Now
}

// Complete returns c with its defaults, or what is wrong with it.
func (c Config) Complete() (Config, error) {
	switch {
	case c.Log == nil || c.Context == nil || c.Owner == nil:
		return c, fmt.Errorf("%w: a session needs a log, a context and an owner", eventlog.ErrInvalid)
	case !filepath.IsAbs(c.Workspace):
		return c, fmt.Errorf("%w: the workspace %q is not an absolute path", eventlog.ErrInvalid,
			c.Workspace)
	}
	if c.Beside == nil {
		c.Beside = &Beside{}
	}
	if c.PermissionTimeout <= 0 {
		c.PermissionTimeout = 5 * time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// SendMode is what happens to a prompt while a turn runs.
type SendMode string

// The modes of sending. A prompt that cannot steer is queued.
const (
	SendQueue SendMode = "queue" // the zero value means it too
	SendSteer SendMode = "steer"
)

// Message is a prompt as a user sends it.
type Message struct {
	// ID is what its sender calls the prompt, unique in the session; if empty, the session makes one.
	// Sent again, it is the same prompt.
	ID          string
	Content     string
	Attachments []event.Attachment
	Mode        SendMode
}

// DisplayResult is what came of a user's own display. Output is nil when nothing was stored; Error
// is set when the display failed.
type DisplayResult struct {
	ToolCallID string
	Output     *eventlog.OutputRef
	Error      *event.ToolError
	Telemetry  json.RawMessage
	NotKept    bool // the log does not have it: it could not be written
}
