package calls

import (
	"slices"
	"time"

	"webchat/internal/event"
)

// Back is how the session went back to earlier prompts.
type Back struct {
	Rewound []Rewound // in the order of the log
	// Answered is the sequence of the last call of a model in a turn of the user's.
	Answered int64
}

// Rewound is one time that the session went back, or took that back.
type Rewound struct {
	event.SessionRewound
	Seq    int64
	Undone bool
}

// Back returns how the session went back.
func (x *Index) Back() Back {
	b := x.back
	b.Rewound = slices.Clone(b.Rewound)
	return b
}

// rewind notes that the session went back. What the agent is given as text it cannot go back to.
func (x *Index) rewind(e event.Entry, d event.SessionRewound) {
	x.back.Rewound = append(x.back.Rewound, Rewound{SessionRewound: d, Seq: e.Seq})
	for i := range x.back.Rewound {
		if r := &x.back.Rewound[i]; r.Seq == d.Undoes {
			r.Undone = true
		}
	}
	for i := range x.prompts {
		if p := &x.prompts[i]; d.Given && p.Turn > d.After && p.Turn < d.Undoes {
			p.Agent = ""
		}
	}
}

// Last is the last time that it went back to a prompt, or undid a turn, and did not take that back
// yet; of a turn if that is given. false: it did not.
func (b Back) Last(turnID string) (r Rewound, ok bool) {
	for _, r := range slices.Backward(b.Rewound) {
		if r.Undoes == 0 && !r.Undone && (turnID == "" || r.TurnID == turnID) {
			return r, true
		}
	}
	return r, false
}

// Forgets is what the agent has to forget before it goes on: how it calls a prompt, and the
// sequence of the event that says so. Empty: nothing.
func (b Back) Forgets() (prompt string, seq int64) {
	for _, r := range slices.Backward(b.Rewound) {
		if r.Undoes > 0 || r.Undone || r.FilesOnly {
			continue
		}
		if b.Answered > r.Seq {
			return "", 0
		}
		return r.Forgets, r.Seq
	}
	return "", 0
}

// Ran is a command that an agent ran.
type Ran struct {
	Command string
	At      time.Time
	Start   int64
}

// Ran are the commands that agents ran after an event.
func (x *Index) Ran(after int64) (all []Ran) {
	for _, c := range x.calls {
		if c.Start > after && c.By == event.ByAgent && c.command != "" {
			all = append(all, Ran{c.command, c.began, c.Start})
		}
	}
	return all
}
