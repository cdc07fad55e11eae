package session

import (
	"encoding/json"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/eventlog"
)

const (
	// stopGrace is how long what is stopped may take until the session goes on without it.
	stopGrace = time.Second
	// logGrace is how long those wait for a slow log that have something else to do.
	logGrace = stopGrace / 4
)

// state is how far a session's life in this process is.
type state int

const (
	stateOpen    state = iota
	stateDeleted       // softly: it can be restored
	stateClosing       // nothing new begins
	stateClosed        // nothing is appended
)

// Session is one conversation. See the package comment for what it guarantees. It is made of parts,
// each with a subject of its own; [newSession] says which stands on which.
type Session struct {
	eventlog.Reader // of events
	consent.Answers // to requests

	*core
	*hooking
	*toolbox
	*conversation
	*chooser
	*toolCalls
	*viewer
	*prompts
	*recall
	*goingBack
}

func newSession(c Config, sum eventlog.Summary) *Session {
	base := newCore(c, sum)
	hooks := &hooking{core: base, rewritten: map[string]json.RawMessage{}}
	tools := &toolbox{core: base}
	conv := &conversation{
		core:       base,
		hooking:    hooks,
		toolbox:    tools,
		connecting: make(chan struct{}, 1),
	}
	base.open(hooks.hook, conv.noteUseLocked, sum)
	keeps := &keeper{base}
	worked := &turns{
		core:         base,
		hooking:      hooks,
		keeper:       keeps,
		draftKeeper:  &draftKeeper{base},
		conversation: conv,
	}
	asked := &prompts{core: base, conversation: conv, turns: worked}
	called := &toolCalls{
		core:    base,
		hooking: hooks,
		toolbox: tools,
		keeper:  keeps,
		calls:   map[string]*call{},
	}
	choices := &chooser{base, conv}
	s := &Session{
		Reader:       base.events,
		Answers:      base.requests,
		core:         base,
		hooking:      hooks,
		toolbox:      tools,
		conversation: conv,
		chooser:      choices,
		toolCalls:    called,
		viewer:       &viewer{core: base, toolbox: tools, toolCalls: called},
		prompts:      asked,
		recall:       &recall{core: base, conversation: conv, chooser: choices, prompts: asked},
		goingBack:    &goingBack{core: base, conversation: conv},
	}
	conv.newHost = func(reach agent.Intercept) *host { return &host{s: s, intercept: reach} }
	return s
}

// ID returns the session's id.
func (s *Session) ID() eventlog.ID { return s.id }

// Opened is what was opened of the sandbox that holds what the session runs.
func (s *Session) Opened() *consent.Opened { return s.opened }

// Held asks about what the session's agents made that takes effect later by itself.
func (s *Session) Held() *Held { return s.heldFiles }
