package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
)

// conn implements [agent.Conn]. What loopState holds is touched on the conversation's loop only.
type conn struct {
	*convo.Conversation
	b  *Backend
	id string // the session's name in the CLI

	mu      sync.Mutex   // guards what follows
	given   int          // tools of ours that the CLI has
	cost    int64        // tokens of their definitions in one model call
	p       *cli.Process // changes between turns only
	model   string       // what was asked for last, with the mode and the effort
	mode    string
	effort  string // empty: the model's own
	offered []string
	servers map[string]string // the MCP servers of tools that are offered
	// excluded are tools that were offered and may not be.
	excluded   []string
	skipping   bool   // instruction files of the workspace are not loaded
	skipped    string // why, as it was reported; empty: the user wants it, or they are
	freshShell bool   // each command of the CLI's shell begins in the workspace

	loop loopState
}

// loopState is owned by the loop.
type loopState struct {
	turn   *turn
	agents map[string]string // helper agents -> the call (ours) that started them
	failed convo.Once        // MCP servers whose failure was reported
	retool bool              // the tools changed while no turn ran
	early  []rewrite         // of calls that have not started

	tasks   map[string]*background // by the CLI's ids
	helpers map[string]*turn       // what helpers in the background do, by their ids
	began   map[string]bool        // our ids of helpers' tasks
	shells  []*background          // calls of the CLI's shell, also behind their end
	tasking convo.Again            // looking at the tasks
	listing convo.Again            // reading the todos
}

func newConn(b *Backend, p *cli.Process, o agent.Options, host agent.Host) *conn {
	c := &conn{b: b, p: p, model: o.Model, effort: o.Effort, id: nativeID(o.SessionID)}
	c.loop = loopState{agents: map[string]string{}, tasks: map[string]*background{}, helpers: map[string]*turn{}, began: map[string]bool{}}
	c.Conversation = convo.New(convo.Config{Title: cli.Title, Options: o, Host: host, Agent: c, Logger: b.cfg.Logger, Broke: c.broke})
	return c
}

// definitions is what the tools and the guide add to each call of a model.
func (b *Backend) definitions(tools []agent.ToolSpec) (n int64) {
	if b.cfg.Count == nil {
		return 0
	}
	n = int64(b.cfg.Count(guide))
	for _, t := range definitionsOf(tools) {
		n += int64(b.cfg.Count(t.Name + "\n" + t.Description + "\n" + string(t.Parameters)))
	}
	return n
}

// broke stops what the CLI does in a conversation that a panic ended.
func (c *conn) broke() {
	c.Do(func() { c.lose(agent.Broken(cli.Title)) })
	ctx, cancel := context.WithTimeout(c.Quit(), abortPatience)
	defer cancel()
	_ = c.ask(ctx, "session.abort", nil, nil) // one that does not stop is destroyed by Close
	c.cancelTasks()
}

func (c *conn) process() *cli.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p
}

// ask calls a method of the CLI about the session, whose name is added; see [cli.Process.Call].
func (c *conn) ask(ctx context.Context, method string, params map[string]any, result any) error {
	named := map[string]any{"sessionId": c.id}
	for k, v := range params {
		named[k] = v
	}
	return c.process().Call(ctx, method, named, result)
}

func (c *conn) SetModel(ctx context.Context, model string) error {
	if err := c.b.check(model); err != nil {
		return err
	}
	_, _, effort := c.chosen()
	return c.During(func() error { return c.switchTo(ctx, model, effort, effort) })
}

func (c *conn) SetTitle(ctx context.Context, title string) error {
	return c.During(func() error { return c.ask(ctx, "session.name.set", map[string]any{"name": title}, nil) })
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
	c.mu.Lock()
	c.p = next
	c.mu.Unlock()
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
	c.Do(func() { c.take(newTurn(ct, p.MessageID)) })
	err := c.instruct(ct.Ctx)
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
func (c *conn) send(ctx context.Context, p agent.Prompt, mode string) (messageID string, err error) {
	if err := c.addTools(ctx); err != nil { // what the prompt brings may need them
		return "", err
	}
	model, _, _ := c.chosen()
	_, known, _ := c.b.cfg.Providers.of(model)
	s := sendRequest{SessionID: c.id, Prompt: strings.ToValidUTF8(p.Content, "\uFFFD"), Mode: mode}
	shown := s.Prompt
	for _, a := range p.Attachments {
		switch {
		case a.Path != "":
			s.Attachments = append(s.Attachments, sentAttachment{Type: "file", Path: a.Path, DisplayName: a.Name})
		case convo.Picture(a) && known.NoVision:
			return "", fmt.Errorf("%s sees no pictures, so nothing was sent. Take %s out of the prompt, or choose another model", model, cmp.Or(a.Name, "the picture"))
		case convo.Picture(a):
			s.Attachments = append(s.Attachments, sentAttachment{Type: "blob", Data: a.Data, MimeType: a.MimeType, DisplayName: a.Name})
		default: // text the user wants read: the CLI takes only pictures as data
			s.Prompt += fmt.Sprintf("\n\n<attachment name=%q>\n%s\n</attachment>", a.Name, strings.ToValidUTF8(string(a.Data), "\uFFFD"))
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
// has not begun with the prompt ignores the request and begins all the same, so it is asked twice
// before it is believed to be idle.
func (c *conn) Abort(ct *convo.Turn) {
	c.Do(func() {
		if t := c.loop.turn; t != nil && t.Turn == ct {
			t.aborted = true
		}
	})
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

// processing asks whether the CLI works on the session.
func (c *conn) processing(ctx context.Context) bool {
	var is struct{ Processing bool }
	return c.ask(ctx, "session.metadata.isProcessing", nil, &is) != nil || is.Processing
}

func (*conn) Settle(*convo.Turn) {}

func (c *conn) Finish(ct *convo.Turn) {
	if t := c.loop.turn; t != nil && t.Turn == ct {
		c.finish(t, nil)
	}
}

func (c *conn) Died(death error) {
	c.Post(func() {
		defer c.lose(cli.Lost(death))
		c.endTasks()
	})
}

// lose ends the turn of a conversation that takes no more prompts.
func (c *conn) lose(why error) {
	if t := c.loop.turn; t != nil && t.pending != nil {
		c.forgo(t)
	} else if t != nil {
		c.finish(t, why)
	}
}

func (c *conn) End() {
	c.cancelTasks()
	c.destroy()
	p := c.process()
	p.Remove(c.id)
	c.b.cli.Release(p)
}

// destroy has the CLI let go of the session; what it kept on disk stays. One that takes long over
// it may work on other conversations: only a CLI that responds to nothing at all is of no use to
// those either.
func (c *conn) destroy() {
	inTime := func(method string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), c.b.destroyPatience)
		defer cancel()
		return c.ask(ctx, method, nil, nil) == nil || ctx.Err() == nil
	}
	if !slices.ContainsFunc([]string{"session.destroy", "ping"}, inTime) {
		c.Logger.Warn("copilot: the CLI does not respond and is restarted")
		c.process().Quit()
	}
}
