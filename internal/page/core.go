package page

import (
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/tokens"
)

// core is what all parts of a [State] stand on: the nodes of the page, what changed of them since
// the last frame, and the event that is folded.
type core struct {
	batch
	pages   *Pages
	cards   *scope
	root    *node // its children are turns
	current *node // the turn that runs, if any
	Seq     int64 // of the last logged event
	now     time.Time
	order   int              // of what came last, among all of its turn
	ids     map[uint64]bool  // of the nodes there are and were lately, hashed
	nodes   map[string]*node // calls, messages, questions and hooks by the id events use

	title, Backend, Model string
	left                  []eventlog.Stretch // what is put aside
	instructions          []string           // files the agent loads, until the first turn says so
	Own                   bool               // while parts are rendered for a page with their lists
}

func newCore(p *Pages, sessionID string) *core {
	return &core{
		pages: p,
		cards: &scope{Pages: p, ID: sessionID, Window: tokens.UsualWindow},
		root:  &node{ID: "turns"},
		ids:   map[uint64]bool{},
		nodes: map[string]*node{},
	}
}

// scope is what the calls and questions of one session have in common.
type scope struct {
	*Pages
	ID     string
	Cwd    string // the workspace
	Window int64  // tokens that the model holds at most, or is assumed to
}
