// Package consent decides whether an agent of one session may act, and asks the user where nothing
// else decides: hooks first, then rules, the mode and earlier grants. It also puts the agent's own
// questions to the user.
//
// Nothing acts before its permission.completed is durable. The first answer wins; a time limit, an
// abort and a restart mean deny. All methods may be called concurrently, but for those that say
// what has to be held.
package consent

import (
	"context"
	"errors"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What callers may ask errors.Is about.
var (
	// ErrAnswered: another answer came first.
	ErrAnswered = errors.New("already answered")
	// ErrGone: the request timed out, was aborted, or belongs to an earlier process.
	ErrGone = errors.New("no longer open")
	// ErrKeep: a grant for the workspace could not be saved; nothing was decided.
	ErrKeep = errors.New("the grant could not be saved")
)

// Mode is what happens when an agent wants to act.
type Mode string

// The modes. A sensitive act is never allowed by a mode, and a mode is never about what the user
// does.
const (
	ModeAsk   Mode = "ask"
	ModeAllow Mode = "allow"
	ModeDeny  Mode = "deny"
)

// Config is what [Requests] work with. Policy and Kept may be nil.
type Config struct {
	Session eventlog.ID
	Log     *eventlog.Log
	Context context.Context // of everything the session does

	Mode    Mode
	Timeout time.Duration // how long the user may take to answer
	Policy  Policy
	Kept    Kept
	Opened  *Opened // opens what a confined act was allowed; needed

	// Hook asks the user's hooks. The error is the context's.
	Hook func(context.Context, HookCall) (HookVerdict, error)
	// PutBack puts back what was held, and returns the paths that it has now; Drop says that it is
	// deleted.
	PutBack func([]event.Held) (paths []string, err error)
	Drop    func([]event.Held)
	// Stopped says in a sentence why a context of the session ended.
	Stopped func(context.Context) string
}

// Policy rules on what agents do, one of the things an act is about at a time, whatever else the
// act is about. Its methods may be called concurrently.
type Policy interface {
	// Rule says what is decided about an act without asking the user.
	Rule(ctx context.Context, act agent.Permission) agent.Ruling
	// Target returns where the links of the file lead that an act is about; empty if it is not
	// about a file.
	Target(act agent.Permission) string
	// Grants returns what the user may allow beyond the act, the narrowest first. A grant covers
	// an act if and only if it is among the act's.
	Grants(act agent.Permission) []event.Grant
}

// Kept is what the user allowed for the workspace, in all its sessions, until they take it back.
// Its methods may be called concurrently.
type Kept interface {
	// Held returns the grant of that id, if it was given and not taken back.
	Held(id string) (event.Grant, bool)
	// Keep makes a grant durable that was given in a session. added is false if it was held
	// already.
	Keep(g event.Grant, session string, at time.Time) (added bool, err error)
	// TakeBack ends a grant; known is false if it was not held.
	TakeBack(id string) (known bool, err error)
	// Given is closed when the next grant is kept, in whatever session it was given.
	Given() <-chan struct{}
}

// Decision is a user's answer to a permission request.
type Decision struct {
	Decision event.Decision `json:"decision"`
	// the id of one of the request's grants; empty: exactly this act
	Grant  string      `json:"grant,omitempty"`
	Scope  event.Scope `json:"scope,omitempty"` // of an allow; empty: once
	Reason string      `json:"reason,omitempty"`
}

// Answers is what the user may say to the requests of a session, and take back.
type Answers interface {
	Decide(ctx context.Context, requestID string, d Decision) error
	Answer(ctx context.Context, requestID, text string) error
	TakeBack(grantID string) error
}

// Requests are the questions to the user of one session: the open ones, and how the others are
// decided.
type Requests struct {
	cfg Config

	mu   sync.Mutex // guards what follows; taken after the session's lock, never held over a write
	open map[string]*request
}

// New returns the requests of a session that has none yet.
func New(c Config) *Requests { return &Requests{cfg: c, open: map[string]*request{}} }
