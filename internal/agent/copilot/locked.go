package copilot

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/policy"
)

// locked knows which calls wait for whose questions: from its question about an edit to the answer,
// the CLI keeps the edits of the same file by all other sessions waiting, under a call that has
// begun (1.0.102). It does not report that.
type locked struct {
	mu    sync.Mutex
	asked map[*asked]struct{}
	edits map[*execution]*edit
}

// asked is an open question of a session about files.
type asked struct {
	c     *conn
	p     *cli.Process
	files []string // where their links lead
}

// edit is a call that changes files, and runs.
type edit struct {
	asked
	x        *execution
	reported *event.OtherSession // for whom it waits
}

// askPatience is how long a question is open before others are said to wait for it: a rule or a
// grant answers at once.
const askPatience = 300 * time.Millisecond

// ask notes a question about an act, until done is called.
func (l *locked) ask(c *conn, act agent.Permission) (done func()) {
	q := &asked{c: c, p: c.process()}
	for _, part := range act.Parts() {
		if part.Kind == agent.KindWrite {
			q.files = append(q.files, policy.Resolve(part.Resource))
		}
	}
	if len(q.files) == 0 {
		return func() {}
	}
	ended := false // guarded by mu
	c.After(askPatience, func() {
		l.change(func() {
			if !ended {
				l.asked[q] = struct{}{}
			}
		})
	})
	return func() {
		l.change(func() {
			ended = true
			delete(l.asked, q)
		})
	}
}

// begin notes a call that has begun, if it changes files.
func (l *locked) begin(c *conn, x *execution) {
	_, names := editOf(x.Tool, x.Args)
	if len(names) == 0 {
		return
	}
	e := &edit{asked: asked{c: c, p: c.process()}, x: x}
	for _, name := range names {
		e.files = append(e.files, policy.Resolve(filepath.Clean(inWorkspace(c.Options.Workspace, name))))
	}
	l.change(func() { l.edits[x] = e })
}

// end forgets calls that are over.
func (l *locked) end(calls ...*execution) {
	l.change(func() {
		for _, x := range calls {
			delete(l.edits, x)
		}
	})
}

// change changes what is known, and reports what follows from that.
func (l *locked) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edits == nil {
		l.edits, l.asked = map[*execution]*edit{}, map[*asked]struct{}{}
	}
	f()
	for x, e := range l.edits {
		now := l.waitsFor(e)
		if (now == nil) == (e.reported == nil) && (now == nil || *now == *e.reported) {
			continue
		}
		e.reported = now
		e.c.Post(func() {
			if x.open() {
				e.c.Report(event.ToolExecutionProgress{
					ToolCallID: x.ID,
					WaitsFor:   now,
					ElapsedMs:  time.Since(x.at).Milliseconds(),
				})
			}
		})
	}
}

// waitsFor returns for whom an edit waits; nil: for no other session. l.mu is held.
func (l *locked) waitsFor(e *edit) *event.OtherSession {
	var other *asked
	for q := range l.asked {
		if q.p != e.p || !slices.ContainsFunc(q.files, func(f string) bool {
			return slices.Contains(e.files, f)
		}) {
			continue
		}
		if q.c == e.c {
			return nil
		}
		other = q
	}
	switch {
	case other == nil:
		return nil
	case other.c.Options.User != e.c.Options.User:
		return &event.OtherSession{}
	}
	return &event.OtherSession{SessionID: other.c.Options.SessionID}
}
