package autohand

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// answerPatience is how long a question stays open at most: the CLI refuses by itself, and
// silently, an hour after it learned that the question is shown.
const answerPatience = 55 * time.Minute

// permission answers the CLI's question for permission.
func (c *conn) permission(t *convo.Turn, r permissionRequest) {
	k := c.run.latest(r.Tool, func(k *call) bool { return k.hooked && !k.asked && !k.ran && !k.Done })
	if k == nil { // its hooks did not run
		k = c.run.take("question "+r.RequestID, r.Tool, nil)
	}
	k.asked = true
	mine := c.workspace.mine(r.Tool)
	if mine {
		k.silent = true
	} else {
		t.Begin(&k.Call)
	}
	act := c.workspace.act(k, r)
	if act.Kind == agent.KindMCP && len(k.input()) == 0 { // then its question says more
		act.Resource = cmp.Or(r.Context.Command, r.Context.Path, act.Resource)
		act.Action = cmp.Or(plain(r.Description), act.Action)
	}
	// the session was asked, or will be
	c.questions.answer(t, permits, r.RequestID, mine || k.allowed, act)
}

// directory answers the CLI's question for a folder outside of the workspace.
func (c *conn) directory(t *convo.Turn, r permissionRequest) {
	k := c.run.latest(askFolder, func(k *call) bool { return !k.Done })
	if k == nil {
		k = c.run.take("question "+r.RequestID, askFolder, nil)
	}
	if k.input().text("path") == "" {
		k.Args, _ = json.Marshal(object{"path": r.Path}) // a map of texts
	}
	t.Begin(&k.Call)
	c.questions.answer(t, folders, r.RequestID, k.allowed, c.workspace.act(k, r))
}

// ask is one of the CLI's two kinds of questions.
type ask struct {
	method, field string
	no, yes       any
}

var (
	permits = ask{"autohand.permission", "decision", "deny_once", "allow_once"}
	folders = ask{"autohand.directoryAccess", "granted", false, true}
)

// questions answers the CLI's questions.
type questions struct{ c *convo.Conversation }

// answer answers a question with yes if it is known, else as the session decides.
func (s questions) answer(t *convo.Turn, q ask, id string, known bool, act agent.Permission) {
	t.Spawn(func() {
		if known {
			s.reply(t, q, id, q.yes)
			return
		}
		if allowed, gone := s.decide(t, q, id, act); allowed && gone {
			s.c.Warn(event.KindTimeout,
				"Autohand CLI no longer waited for the answer, so it did not %s. Ask for it again.", act.Action)
		}
	})
}

// reply answers a question and reports whether the CLI waited for it.
func (s questions) reply(t *convo.Turn, q ask, id string, answer any) bool {
	ctx, cancel := context.WithTimeout(s.c.Life(), 10*time.Second)
	defer cancel()
	var got accepted
	return t.Program().Call(ctx, q.method+"Response", object{"requestId": id, q.field: answer},
		&got) == nil && got.Success
}

// decide has the CLI know that a question is shown, asks the session, and answers. gone says that
// the CLI has stopped waiting.
func (s questions) decide(t *convo.Turn, q ask, id string,
	act agent.Permission) (allowed, gone bool) {
	ctx, done, ok := t.Join(s.c.Life())
	if !ok {
		s.reply(t, q, id, q.no)
		return false, false
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	// Without this the CLI refuses by itself after 30 s.
	if err := t.Program().Call(ctx, q.method+"Acknowledged", object{"requestId": id},
		nil); err != nil {
		return false, true
	}
	if s.c.Permit(ctx, act) != nil || ctx.Err() != nil {
		return false, !s.reply(t, q, id, q.no)
	}
	return true, !s.reply(t, q, id, q.yes)
}
