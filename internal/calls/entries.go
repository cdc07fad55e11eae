package calls

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// digest stands for a text.
type digest [16]byte

// Call is a tool call. Numbers are sequences of the log; 0: there is none.
type Call struct {
	ID, Tool   string
	By         event.Actor
	Start, End int64
	Turn       int64 // the start of the turn it began in
	Secret     int64 // the question about a file that may hold secrets
	// Outside reports whether the sandbox refused it something that can be had outside.
	Outside bool
}

type call struct {
	Call
	earlier       int // the one before of the same id, from 1; 0: none
	began         time.Time
	path, command string // of its arguments, where they are not over longest
	long          bool   // one of them is
	file          string // that they name in any way
	shell         bool   // they are those of a command
}

// pending is what came before the end of a call.
type pending struct {
	secret, diff int64
	names        []string // of the diff's files; nil: none are named
}

// Output is what a call showed. An output that was read again stands in the place of the earlier
// one, and has the new id.
type Output struct {
	ID      string
	Call    Call // its Start is 0 where the log does not say what it was about
	Began   time.Time
	At      time.Time // when it was made
	Path    string    // of the arguments of the call
	Command string
	Long    bool // Path or Command is too long to be held: the event at Call.Start has them
	Made    Made
	Opened  bool // the user looked at it
	Deleted bool // by the user
}

// Made is what the telemetry of a call says of its output.
type Made struct {
	OutputType   string
	Bytes, Lines int64
	ExitCode     *int
}

type output struct {
	id              string
	call            int // from 1; 0: none is known
	at              time.Time
	made            Made
	opened, deleted bool
}

// Prompt is what a user sent.
type Prompt struct {
	ID    string
	Line  string // its first, cut
	Seq   int64  // of its user.message
	Turn  int64  // of the start of its turn; 0: it has none of its own
	Agent string // what the agent calls it; empty: the agent cannot go back to it
	// Waited are the sequences of the prompts that waited when its turn began, and its own.
	Waited []int64
	// Taken reports whether it was sent in another session, whose conversation this one began with.
	Taken bool
}

// Turn is one of the session's turns.
type Turn struct {
	ID         string
	From       int64     // its prompt, or its start if it has none
	Line       string    // the first of its prompt, or why it began
	At         time.Time // when it began
	Start, End int64     // End is 0 while it runs
	Outcome    event.Outcome
	Was, Left  string // its snapshots; empty: none
	NoSnapshot event.NoSnapshot
	Changed    bool    // files differ between the snapshots
	Edits      int     // that the agent reported
	Refused    []int64 // the files that the sandbox kept from being written to
	Own        bool    // the agent began it by itself
}

// Request is a question to the user.
type Request struct {
	Asked, Done int64 // Done is 0 while it is open
	Held        bool  // it is about what was made and is held
	By          event.Decider
}

func digestOf(text string) digest {
	sum := sha256.Sum256([]byte(text))
	return digest(sum[:len(digest{})])
}

// made reads telemetry; anything but such an object names no output.
func made(telemetry json.RawMessage) (m Made) {
	_ = json.Unmarshal(telemetry, &m)
	return m
}

func line(text string) string { return wording.FirstLine(wording.Plain(text), brief) }
