package autohand

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// conn is one conversation.
type conn struct {
	b       *Backend
	o       agent.Options
	host    agent.Host
	dir     string         // the conversation's own
	uses    sync.WaitGroup // calls of tools, questions and hooks; Add under mu while not closed
	prompts sync.WaitGroup // Add under mu while not closed
	once    sync.Once      // of end

	tools  agent.Lent // where the session's tools are; with unlend
	unlend func()
	hooks  *listener
	tidies bool // the workspace had no folder of the CLI's

	mu      sync.Mutex // guards what follows
	process *process   // nil: it ended
	closed  bool
	stale   bool              // the process has another model than o says
	scripts map[string]string // lines of the workspace's own tools when the process started
	turn    *turn
	behind  []string // commands that the process left in the background
	gone    []string // those that ended with their process, which is not told yet
}

// Prompt implements [agent.Conn].
func (c *conn) Prompt(ctx context.Context, p agent.Prompt) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("%w: the conversation is closed", agent.ErrDied)
	}
	c.prompts.Add(1)
	c.mu.Unlock()
	defer c.prompts.Done()
	if err := refuseRisky(c.o.Workspace); err != nil {
		return err
	}
	running, err := c.running(ctx)
	if err != nil {
		return err
	}
	t := newTurn(ctx)
	defer t.cancel()
	c.mu.Lock()
	c.turn = t
	c.mu.Unlock()
	c.recall(t)
	watched := make(chan struct{})
	go running.Contained(func() { defer close(watched); c.watch(t) })()
	err = c.ask(ctx, running, t, p)
	if errors.Is(err, errNotTaken) && !errors.Is(err, contain.ErrPanic) { // it ended between turns
		c.drop(running)
		if running, err = c.running(ctx); err == nil {
			err = c.ask(ctx, running, t, p)
		}
	}
	c.mu.Lock()
	t.cancel() // from here on no call of a tool begins
	c.mu.Unlock()
	<-watched
	t.tools.Wait()
	t.told.Lock()
	t.closing = true
	t.told.Unlock()
	t.work.Wait()
	c.finish(running, t)
	if errors.Is(err, jsonrpc.ErrClosed) {
		c.drop(running)
	}
	c.tellGone(t)
	c.mu.Lock()
	c.turn = nil
	stalled, closed := t.stalled, c.closed
	c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case closed:
		return fmt.Errorf("%w: the conversation was closed", agent.ErrDied)
	case stalled:
		return fmt.Errorf("%s did nothing for %v, so its turn was ended. Run autohand by itself to see whether its provider works", title, c.b.cfg.Stall)
	case errors.Is(err, contain.ErrPanic):
		return agent.Broken(title)
	case errors.Is(err, jsonrpc.ErrClosed):
		return fmt.Errorf("%w: Autohand CLI%s", agent.ErrDied, running.Said())
	}
	return err
}

// errNotTaken says that the CLI ended before it took a prompt.
var errNotTaken = errors.New("the prompt was not taken")

// ask sends a prompt and waits for the end of its turn. When the turn is stopped it
// tells the CLI, and ends it if that does not help.
func (c *conn) ask(ctx context.Context, p *process, t *turn, from agent.Prompt) error {
	var got accepted
	err := p.Call(t.ctx, "autohand.prompt", c.params(from), &got)
	var theirs *jsonrpc.Error
	switch {
	case errors.As(err, &theirs):
		return fmt.Errorf("%s did not take the prompt: %s", title, plain(theirs.Message))
	case err != nil && t.ctx.Err() == nil:
		return fmt.Errorf("%w: %w", errNotTaken, err)
	}
	select {
	case <-t.ended:
		return t.failure()
	case <-p.Done():
		return errors.Join(jsonrpc.ErrClosed, p.Err())
	case <-t.ctx.Done():
	}
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	_ = p.Call(soon, "autohand.abort", nil, nil) // else it is ended below
	select {
	case <-t.ended:
		return ctx.Err()
	case <-p.Done():
	case <-soon.Done():
	}
	c.drop(p)
	return ctx.Err()
}

// params is a prompt as the CLI takes it. The mode "host" has it tell what the model
// says beside its calls, and what became of calls that were refused.
func (c *conn) params(from agent.Prompt) object {
	text := from.Content
	var images []any
	for _, a := range from.Attachments {
		switch {
		case a.Path != "":
			text += "\n\nThe user attached the file " + a.Path
		case strings.HasPrefix(a.MimeType, "image/"):
			images = append(images, object{"data": base64.StdEncoding.EncodeToString(a.Data), "mimeType": a.MimeType, "filename": a.Name})
		default:
			text += fmt.Sprintf("\n\nThe user attached %s:\n%s", a.Name, strings.ToValidUTF8(string(a.Data), "\uFFFD"))
		}
	}
	p := object{"message": escaped(text), "stopWhen": object{"mode": "host"}}
	if images != nil {
		p["images"] = images
	}
	return p
}

// escaped keeps a text from being taken for a command of the CLI, some of which never
// return.
func escaped(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "/") {
		return "\u200B" + text
	}
	return text
}

// running returns the CLI's process, started again if it ended.
func (c *conn) running(ctx context.Context) (*process, error) {
	c.mu.Lock()
	p, closed, stale := c.process, c.closed, c.stale
	c.stale = false
	c.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("%w: the conversation is closed", agent.ErrDied)
	case stale:
		c.drop(p)
	case p != nil:
		return p, nil
	}
	if err := c.start(ctx, remembered(c.dir)); err != nil {
		c.drop(c.current())
		return nil, fmt.Errorf("%w: %w", agent.ErrDied, err)
	}
	return c.current(), nil
}

// current returns the process; nil: it ended.
func (c *conn) current() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

// drop ends a process that ended, or does not react.
func (c *conn) drop(p *process) {
	c.mu.Lock()
	if c.process == p {
		c.process = nil
		c.gone, c.behind = append(c.gone, c.behind...), nil
	}
	c.mu.Unlock()
	if p == nil {
		return
	}
	if err := p.Stop(stopPatience); err != nil {
		c.b.cfg.Logger.Warn("an agent did not end cleanly", "agent", Name, "error", err)
	}
}

// tellGone tells of commands in the background that ended with the CLI.
func (c *conn) tellGone(t *turn) {
	c.mu.Lock()
	gone, closed := c.gone, c.closed
	c.gone = nil
	c.mu.Unlock()
	if len(gone) > 0 && !closed {
		c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindAborted,
			Message: "Autohand CLI was ended, and with it what it ran in the background: " + wording.Cut(plain(strings.Join(gone, ", ")), 200) + ". Ask for it again if you need it."})
	}
}

// watch tells the user when the CLI shows no sign of life, and ends the turn when it
// shows none for long: without a provider it goes on for ever.
func (c *conn) watch(t *turn) {
	silent, warned := time.NewTimer(c.b.cfg.Silence), false
	defer silent.Stop()
	for {
		busy := false
		select {
		case <-t.ctx.Done():
			return
		case <-t.sign:
			busy = true
		case <-silent.C:
			switch busy = c.busy(t); {
			case busy:
			case !warned:
				warned = true
				c.report(t.tell, event.SessionError{ErrorType: event.ErrorWarning, Kind: event.KindTimeout,
					Message: fmt.Sprintf("Autohand CLI has shown no sign of life for %v. Stop it, or wait.", c.b.cfg.Silence)})
				silent.Reset(c.b.cfg.Stall - c.b.cfg.Silence)
			default:
				c.mu.Lock()
				t.stalled = true
				c.mu.Unlock()
				t.cancel()
				return
			}
		}
		if busy {
			warned = false
			silent.Reset(c.b.cfg.Silence)
		}
	}
}

// busy reports whether the CLI waits for us or works on a call.
func (c *conn) busy(t *turn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.waits > 0 || t.running.Load() > 0
}

// use counts something that works for the turn t until done is called; nil: there is
// no turn for it.
func (c *conn) use() (t *turn, done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = c.turn
	if t == nil || c.closed || t.ctx.Err() != nil {
		return nil, nil
	}
	c.uses.Add(1)
	t.waits++
	return t, func() {
		c.mu.Lock()
		t.waits--
		c.mu.Unlock()
		t.alive()
		c.uses.Done()
	}
}

// callTool makes a call of one of the session's tools for the CLI.
func (c *conn) callTool(ctx context.Context, tc agent.ToolCall) (agent.Result, error) {
	none := agent.Failure(event.KindAborted, "No turn runs, so nothing was done.")
	t, done := c.use()
	if t == nil {
		return none, nil
	}
	defer done()
	c.mu.Lock()
	if t.ctx.Err() != nil { // it has been stopped since
		c.mu.Unlock()
		return none, nil
	}
	t.tools.Add(1)
	c.mu.Unlock()
	defer t.tools.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	return c.host.CallTool(ctx, tc)
}

// Steer implements [agent.Conn].
func (c *conn) Steer(context.Context, agent.Prompt) error { return agent.ErrUnsupported }

// SetModel implements [agent.Conn]. The CLI takes a model only at its start, so it is
// started again for the next prompt.
func (c *conn) SetModel(_ context.Context, model string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = c.stale || c.o.Model != model
	c.o.Model = model
	return nil
}

// SetTitle implements [agent.Conn].
func (c *conn) SetTitle(context.Context, string) error { return agent.ErrUnsupported }

// Close implements [agent.Conn].
func (c *conn) Close() error {
	c.end()
	return nil
}

// end ends the conversation and waits until nothing of it is left.
func (c *conn) end() { c.once.Do(c.endOnce) }

func (c *conn) endOnce() {
	c.mu.Lock()
	t := c.turn
	c.closed = true
	c.mu.Unlock()
	if t != nil {
		t.cancel()
	}
	for range 2 { // a prompt may have been starting another one
		c.drop(c.current())
		c.prompts.Wait()
	}
	if c.tidies {
		tidy(filepath.Join(c.o.Workspace, ".autohand"))
	}
	if c.unlend != nil {
		c.unlend()
		c.unlend = nil
	}
	if c.hooks != nil {
		c.hooks.close()
	}
	c.uses.Wait()
}

// report tells the session what happened. It refuses what comes after the turn.
func (c *conn) report(ctx context.Context, d event.Data) {
	if err := c.host.Report(ctx, d); err != nil {
		c.b.cfg.Logger.Debug("a report was refused", "agent", Name, "type", event.TypeOf(d), "error", err)
	}
}
