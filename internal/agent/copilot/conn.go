package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// conn implements [agent.Conn]. Its parts know what they need of the conversation, and not each
// other but as newConn joins them.
type conn struct {
	*convo.Conversation
	*remote
	b      *Backend
	chosen *chosen
	tools  *toolbox
	loads  *instructions
	hooks  *hooks
	dialog *dialog

	// What follows belongs to the loop.
	turns     *turns
	helpers   *helpers
	calls     *calls
	questions *questions
	tasks     *tasks
	todos     *todos
	ledger    ledger
}

func newConn(b *Backend, p *cli.Process, o agent.Options, host agent.Host) *conn {
	c := &conn{b: b, remote: &remote{id: nativeID(o.SessionID), log: b.cfg.Logger, p: p}}
	c.Conversation = convo.New(convo.Config{
		Title:   cli.Title,
		Options: o,
		Host:    host,
		Agent:   c,
		Logger:  b.cfg.Logger,
		Broke:   c.broke,
	})
	c.chosen = &chosen{
		b:       b,
		ask:     c.ask,
		unasked: o.Unasked,
		want:    o.Mode,
		model:   o.Model,
		effort:  o.Effort,
	}
	c.tools = &toolbox{b: b, ask: c.ask, lent: o.Tools}
	c.loads = &instructions{workspace: o.Workspace, off: b.cfg.NoInstructions}
	c.helpers = &helpers{calls: map[string]string{}, work: map[string]*turn{}}
	c.turns = &turns{
		c:          c.Conversation,
		helpers:    c.helpers,
		ask:        c.ask,
		processing: c.processing,
		ended:      b.locked.end,
		retool:     c.toolsUpdated,
	}
	c.tasks = &tasks{
		c:       c.Conversation,
		ask:     c.ask,
		explain: b.cli.Explain,
		helpers: c.helpers,
		all:     map[string]*background{},
		began:   map[string]bool{},
	}
	c.todos, c.ledger = &todos{c: c.Conversation, ask: c.ask}, ledger{c.Report, c.tools.tokens}
	c.dialog = &dialog{host: host, turns: c.turns, unasked: o.Unasked}
	c.joinCalls(o)
	return c
}

// joinCalls makes the parts that a call of the CLI goes through.
func (c *conn) joinCalls(o agent.Options) {
	b, understood := c.b, acts{o.Workspace, c.tools}
	c.hooks = &hooks{
		c:        c.Conversation,
		turns:    c.turns,
		acts:     understood,
		hits:     b.cfg.SearchHits,
		confined: b.cfg.Confine != nil,
		most:     b.cfg.Large,
		large:    filepath.Join(b.cli.HomeOf(o.Workspace), "session-state", c.id, "large"),
	}
	c.questions = &questions{
		c:     c.Conversation,
		reply: c.reply,
		acts:  understood,
		lock:  func(act agent.Permission) func() { return b.locked.ask(c, act) },
	}
	c.calls = &calls{c: c.Conversation, reply: c.reply, tools: c.tools, helpers: c.helpers,
		began: []func(*turn, *execution, string){
			func(_ *turn, x *execution, _ string) { c.hooks.callBegan(x) },
			func(_ *turn, x *execution, theirs string) { c.tasks.callBegan(x, theirs) },
			func(_ *turn, x *execution, _ string) { b.locked.begin(c, x) },
			func(t *turn, _ *execution, _ string) { c.questions.settle(t, nil) },
		},
		ended: func(x *execution, text string) {
			b.locked.end(x)
			c.tasks.callEnded(x, text)
		}}
}

// broke stops what the CLI does in a conversation that a panic ended.
func (c *conn) broke() {
	c.Do(func() { c.turns.lose(agent.Broken(cli.Title)) })
	ctx, cancel := context.WithTimeout(c.Quit(), abortPatience)
	defer cancel()
	_ = c.ask(ctx, "session.abort", nil, nil) // one that does not stop is destroyed by Close
	c.tasks.cancelAll()
}

func (c *conn) SetTitle(ctx context.Context, title string) error {
	return c.During(func() error {
		return c.ask(ctx, "session.name.set", map[string]any{"name": title}, nil)
	})
}

// AbortTask implements [agent.Tasker].
func (c *conn) AbortTask(ctx context.Context, taskID string) error {
	return c.During(func() error { return c.tasks.abort(ctx, taskID) })
}

// Ready implements [convo.Agent]: a conversation whose process has ended gets another, in which it
// is resumed.
func (c *conn) Ready(ctx context.Context) error {
	p := c.process()
	switch {
	case c.Broken():
		return agent.Broken(cli.Title)
	case !p.Ended():
		return nil
	}
	<-p.Gone() // it has reported that
	next, err := c.b.cli.Acquire(ctx, c.Options.Workspace)
	if err != nil {
		return err
	}
	c.move(next)
	p.Remove(c.id)
	c.b.cli.Release(p)
	err = c.open(ctx, next, true)
	if errors.Is(err, agent.ErrUnsupported) {
		err = c.open(ctx, next, false)
	}
	if err != nil {
		next.Remove(c.id)
		return cli.Died(err.Error()) // this conversation is of no more use
	}
	return nil
}

func (c *conn) Send(ct *convo.Turn, p agent.Prompt) error {
	c.Do(func() { c.turns.take(newTurn(ct, p.MessageID)) })
	news, err := c.loads.renew(ct.Ctx, c.ask)
	if err == nil && news != "" {
		c.Post(func() {
			c.Warn(event.KindProvider,
				"No instruction file of this folder was loaded: %s. Change that, or start webchat with "+
					"--instructions off.", news)
		})
	}
	if err == nil {
		_, err = c.send(ct.Ctx, p, "")
	}
	if err == nil || ct.Ctx.Err() != nil { // one that is to stop ends with that
		return nil
	}
	return c.b.cli.Explain(err)
}

// send gives the CLI a prompt; it answers before it begins. A picture for a model that sees none is
// refused: the CLI would send it all the same.
func (c *conn) send(ctx context.Context, p agent.Prompt,
	mode string) (messageID string, err error) {
	if err := c.tools.add(ctx); err != nil { // what the prompt brings may need them
		return "", err
	}
	model, _, _ := c.chosen.now()
	_, known, _ := c.b.cfg.Providers.of(model)
	s := sendRequest{SessionID: c.id, Prompt: strings.ToValidUTF8(p.Content, "\uFFFD"), Mode: mode}
	shown := s.Prompt
	for _, a := range p.Attachments {
		switch {
		case a.Path != "":
			s.Attachments = append(s.Attachments, sentAttachment{
				Type:        "file",
				Path:        a.Path,
				DisplayName: a.Name,
			})
		case convo.Picture(a) && known.NoVision:
			return "",
				fmt.Errorf(
					"%s sees no pictures, so nothing was sent. Take %s out of the prompt, or choose another model",
					model, cmp.Or(a.Name, "the picture"))
		case convo.Picture(a):
			s.Attachments = append(s.Attachments, sentAttachment{
				Type:        "blob",
				Data:        a.Data,
				MimeType:    a.MimeType,
				DisplayName: a.Name,
			})
		default: // text the user wants read: the CLI takes only pictures as data
			s.Prompt += fmt.Sprintf("\n\n<attachment name=%q>\n%s\n</attachment>", a.Name,
				strings.ToValidUTF8(string(a.Data), "\uFFFD"))
		}
	}
	if s.Prompt != shown {
		s.DisplayPrompt = shown // what the CLI makes the title of
	}
	var sent struct{ MessageID string }
	err = c.process().Call(ctx, "session.send", s, &sent)
	return sent.MessageID, err
}

const (
	settlePatience = 500 * time.Millisecond // for the idle event of an abort
	abortPatience  = 2 * time.Second        // then the CLI does not stop
)

// Abort implements [convo.Agent]. A CLI that is not idle after abortPatience is given up. One that
// has not begun with the prompt ignores the request and begins all the same, or ends what the agent
// left running as well (1.0.102): so it is asked once it has begun, and twice before it is believed
// to be idle.
func (c *conn) Abort(ct *convo.Turn) {
	var begins <-chan struct{}
	c.Do(func() {
		if t := c.turns.now; t != nil && t.Turn == ct {
			if t.aborted = true; !t.heard && !t.joined {
				begins = t.begins
			}
		}
	})
	if begins != nil {
		select {
		case <-begins:
		case <-ct.Done:
		case <-time.After(settlePatience):
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), abortPatience)
	defer cancel()
	for asked := 1; ; asked++ {
		err := c.ask(ctx, "session.abort", nil, nil)
		select {
		case <-ct.Done:
			return
		case <-time.After(settlePatience):
		}
		// No idle event: there was nothing to stop, or it takes its time.
		switch {
		case err == nil && asked > 1 && !c.processing(ctx):
			c.Do(func() { ct.End(nil) })
			return
		case ctx.Err() != nil:
			c.Do(func() { ct.End(cli.Died("GitHub Copilot CLI did not stop when it was asked to")) })
			return
		}
	}
}

func (c *conn) Finish(ct *convo.Turn) {
	if t := c.turns.now; t != nil && t.Turn == ct {
		c.turns.finish(t, nil)
	}
}

func (c *conn) Died(death error) {
	c.Post(func() {
		defer c.turns.lose(cli.Lost(death))
		c.tasks.endAll()
	})
}

func (c *conn) End() {
	c.tasks.cancelAll()
	c.destroy()
	p := c.process()
	p.Remove(c.id)
	c.b.cli.Release(p)
}

// destroy has the CLI let go of the session, and ends one that responds to nothing at all.
func (c *conn) destroy() {
	if !c.remote.destroy(c.b.destroyPatience) {
		c.Logger.Warn("copilot: the CLI does not respond and is restarted")
		c.process().Quit()
	}
}

// Steer implements [agent.Conn].
func (c *conn) Steer(ctx context.Context, p agent.Prompt) error {
	return c.During(func() error {
		taken, err := c.turns.steered(func() (string, error) { return c.send(ctx, p, "immediate") })
		switch {
		case !taken:
			return agent.ErrUnsupported
		case err != nil:
			return fmt.Errorf("steer: %w", c.b.cli.Explain(err))
		}
		return nil
	})
}
