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
	mine := c.mine(r.Tool)
	if mine {
		k.silent = true
	} else {
		begin(t, k)
	}
	act := c.act(k, r)
	if act.Kind == agent.KindMCP && len(k.input()) == 0 { // then its question says more
		act.Resource = cmp.Or(r.Context.Command, r.Context.Path, act.Resource)
		act.Action = cmp.Or(plain(r.Description), act.Action)
	}
	known := mine || k.allowed // the session was asked, or will be
	t.Spawn(func() {
		if known {
			c.reply(t, "autohand.permission", object{"requestId": r.RequestID, "decision": "allow_once"})
			return
		}
		allowed, gone := c.decide(t, "autohand.permission", r.RequestID, "decision", [2]any{"deny_once", "allow_once"}, act)
		if allowed && gone {
			c.Warn(event.KindTimeout, "Autohand CLI no longer waited for the answer, so it did not %s. Ask for it again.", act.Action)
		}
	})
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
	begin(t, k)
	known, act := k.allowed, c.act(k, r)
	t.Spawn(func() {
		if known {
			c.reply(t, "autohand.directoryAccess", object{"requestId": r.RequestID, "granted": true})
			return
		}
		c.decide(t, "autohand.directoryAccess", r.RequestID, "granted", [2]any{false, true}, act)
	})
}

// reply answers a question and reports whether the CLI waited for it.
func (c *conn) reply(t *convo.Turn, method string, answer object) bool {
	ctx, cancel := context.WithTimeout(c.Life(), 10*time.Second)
	defer cancel()
	var got accepted
	return t.Program().Call(ctx, method+"Response", answer, &got) == nil && got.Success
}

// decide has the CLI know that a question is shown, asks the session, and answers with no or yes. gone
// says that the CLI waits no longer.
func (c *conn) decide(t *convo.Turn, method, id, field string, answers [2]any, act agent.Permission) (allowed, gone bool) {
	ctx, done, ok := t.Join(c.Life())
	if !ok {
		c.reply(t, method, object{"requestId": id, field: answers[0]})
		return false, false
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	// Without this the CLI refuses by itself after 30 s.
	if err := t.Program().Call(ctx, method+"Acknowledged", object{"requestId": id}, nil); err != nil {
		return false, true
	}
	v, err := c.Host.AskPermission(ctx, act)
	allowed = err == nil && ctx.Err() == nil && v.Decision == event.Allow
	answer := answers[0]
	if allowed {
		answer = answers[1]
	}
	return allowed, !c.reply(t, method, object{"requestId": id, field: answer})
}
