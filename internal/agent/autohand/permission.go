package autohand

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// answerPatience is how long a question stays open at most: the CLI refuses by itself,
// and silently, an hour after it was told that the question is shown.
const answerPatience = 55 * time.Minute

// permission answers the CLI's question for leave; t.told is held.
func (c *conn) permission(p *process, t *turn, r permissionRequest) {
	k := t.latest(r.Tool, func(k *call) bool { return k.hooked && !k.asked && !k.ran && !k.done })
	if k == nil { // its hooks did not run
		k = t.take("question "+r.RequestID, r.Tool, nil)
	}
	k.asked = true
	known := c.mine(r.Tool) || k.allowed // the session was asked, or will be
	if c.mine(r.Tool) {
		k.silent = true
	} else {
		c.begin(t, k)
	}
	act := c.act(k, r)
	if act.Kind == agent.KindMCP && len(k.input()) == 0 { // then its question says more
		act.Resource = cmp.Or(r.Context.Command, r.Context.Path, act.Resource)
		act.Action = cmp.Or(plain(r.Description), act.Action)
	}
	t.spawn(p, func() {
		if known {
			_ = p.Call(t.tell, "autohand.permissionResponse", object{"requestId": r.RequestID, "decision": "allow_once"}, nil)
			return
		}
		allowed, gone := c.decide(p, "autohand.permission", r.RequestID, "decision", [2]any{"deny_once", "allow_once"}, act)
		if allowed && gone {
			t.told.Lock()
			defer t.told.Unlock()
			c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindTimeout,
				Message: fmt.Sprintf("Autohand CLI no longer waited for the answer, so it did not %s. Ask for it again.", act.Action)})
		}
	})
}

// directory answers the CLI's question for a folder outside of the workspace.
func (c *conn) directory(p *process, t *turn, r permissionRequest) {
	k := t.latest(askFolder, func(k *call) bool { return !k.done })
	if k == nil {
		k = t.take("question "+r.RequestID, askFolder, nil)
	}
	if k.input().text("path") == "" {
		k.args, _ = json.Marshal(object{"path": r.Path}) // a map of texts
	}
	c.begin(t, k)
	known, act := k.allowed, c.act(k, r)
	t.spawn(p, func() {
		if known {
			_ = p.Call(t.tell, "autohand.directoryAccessResponse", object{"requestId": r.RequestID, "granted": true}, nil)
			return
		}
		c.decide(p, "autohand.directoryAccess", r.RequestID, "granted", [2]any{false, true}, act)
	})
}

// decide tells the CLI that a question is shown, asks the session, and answers with no
// or yes. gone says that the CLI waits no longer.
func (c *conn) decide(p *process, method, id, field string, answers [2]any, act agent.Permission) (allowed, gone bool) {
	t, done := c.use()
	reply := func(yes bool) bool {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		choice := answers[0]
		if yes {
			choice = answers[1]
		}
		var got accepted
		err := p.Call(ctx, method+"Response", object{"requestId": id, field: choice}, &got)
		return err == nil && got.Success
	}
	if t == nil {
		reply(false)
		return false, false
	}
	defer done()
	ctx, cancel := context.WithTimeout(t.ctx, answerPatience)
	defer cancel()
	// Without this the CLI refuses by itself after 30 s.
	if err := p.Call(ctx, method+"Acknowledged", object{"requestId": id}, nil); err != nil {
		return false, true
	}
	v, err := c.host.AskPermission(ctx, act)
	allowed = err == nil && ctx.Err() == nil && v.Decision == event.Allow
	return allowed, !reply(allowed)
}
