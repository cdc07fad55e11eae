package autohand

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// startPatience is how long the CLI may take to be ready.
const startPatience = time.Minute

// errForgotten reports that the CLI no longer knows the conversation.
var errForgotten = errors.New("the conversation is forgotten")

// conn is one conversation.
type conn struct {
	*convo.Conversation
	b         *Backend
	dir       string // the conversation's own
	workspace *workspace
	questions questions
	hooks     *listener
	tidies    bool // the workspace had no folder of the CLI's

	mu    sync.Mutex // guards what follows
	model string
	stale bool // the process has another model

	// What follows belongs to the loop; run to the running turn.
	run      run
	held     *held
	behind   []string // commands that the process behindOf left in the background
	behindOf *jsonrpc.Program
}

// run is what is known of the running turn.
type run struct {
	convo.Calls[*call]
	begun  bool     // by the CLI
	errors []string // what the provider reported
	failed *event.SessionError
}

// Ready implements [convo.Agent].
func (c *conn) Ready(ctx context.Context) error {
	if err := convo.RefuseRisky(title, c.Options.Workspace, c.b.cfg.UserHome, risky); err != nil {
		return err
	}
	c.mu.Lock()
	stale := c.stale
	c.stale = false
	c.mu.Unlock()
	if p := c.Program(); p != nil && (stale || !responds(ctx, p)) {
		c.Drop(p)
	}
	return c.Running(ctx, func(ctx context.Context) error { return c.start(ctx, remembered(c.dir)) })
}

// responds reports whether the CLI still answers, as one that ended between turns does not.
func responds(ctx context.Context, p *jsonrpc.Program) bool {
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := p.Call(soon, "autohand.getState", nil, nil)
	_, refused := errors.AsType[*jsonrpc.Error](err)
	return err == nil || refused || ctx.Err() != nil
}

// Send implements [convo.Agent].
func (c *conn) Send(t *convo.Turn, from agent.Prompt) error {
	p := t.Program()
	if p == nil {
		return c.Died("")
	}
	c.Do(func() {
		c.run = run{}
		c.held.begin()
	})
	var got accepted
	err := p.Call(t.Ctx, "autohand.prompt", params(from), &got)
	if theirs, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return fmt.Errorf("%s did not take the prompt: %s", title, plain(theirs.Message))
	}
	return nil // the end of the program, and that of the turn's context, end the turn
}

// params is a prompt as the CLI takes it. The mode "host" has it report what the model says beside
// its calls, and what became of calls that were refused.
func params(from agent.Prompt) object {
	var images []any
	text := convo.Text(from, func(a agent.Attachment) bool {
		if a.Path != "" || !convo.Picture(a) {
			return false
		}
		images = append(images, object{"data": base64.StdEncoding.EncodeToString(a.Data),
			"mimeType": a.MimeType, "filename": a.Name})
		return true
	})
	if strings.HasPrefix(strings.TrimSpace(text), "/") {
		text = "\u200B" + text // else it is a command of the CLI, some of which never return
	}
	p := object{"message": text, "stopWhen": object{"mode": "host"}}
	if images != nil {
		p["images"] = images
	}
	return p
}

// Abort implements [convo.Agent].
func (c *conn) Abort(t *convo.Turn) {
	c.Stop(t, func(ctx context.Context, p *jsonrpc.Program) {
		_ = p.Call(ctx, "autohand.abort", nil, nil) // else it is ended
	})
}

// Settle implements [convo.Settler]. It has the CLI write what a turn that was stopped had held
// back, and was reported as written.
func (c *conn) Settle(t *convo.Turn) {
	open := false
	c.Do(func() { open = len(c.held.changes) > 0 })
	if p := t.Program(); open && p != nil && c.Program() == p {
		c.held.accept(p)
	}
}

// Finish implements [convo.Agent].
func (c *conn) Finish(*convo.Turn) {
	c.held.end()
	if len(c.behind) > 0 && c.Program() != c.behindOf && c.Quit().Err() == nil {
		c.Warn(event.KindAborted,
			"Autohand CLI was ended, and with it what it ran in the background: %s. Ask for it again if "+
				"you need it.",
			wording.Cut(plain(strings.Join(c.behind, ", ")), 200))
		c.behind = nil
	}
}

// SetModel implements [agent.Conn]. The CLI takes a model only at its start, so it is started again
// for the next prompt.
func (c *conn) SetModel(_ context.Context, model string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = c.stale || c.model != model
	c.model = model
	return nil
}

// End implements [convo.Agent].
func (c *conn) End() {
	if c.tidies {
		tidy(filepath.Join(c.Options.Workspace, ".autohand"))
	}
	if c.hooks != nil {
		c.hooks.close()
	}
}

// start starts the CLI and opens a conversation, the one of that id if it is not empty.
func (c *conn) start(ctx context.Context, id string) error {
	workspace := c.Options.Workspace
	if err := convo.RefuseRisky(title, workspace, c.b.cfg.UserHome, risky); err != nil {
		return err
	}
	loads := policy.Loads{Above: true, Outside: true, Home: c.b.cfg.UserHome}
	if found := policy.FindInstructions(workspace, loads); found.Wrong != "" {
		return fmt.Errorf(
			"%w: %s loads the instruction files of a folder, and %s; change that, or choose another agent",
			agent.ErrUnavailable, title, found.Wrong)
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(workspace, ".autohand")); errors.Is(err, fs.ErrNotExist) {
		c.tidies = true
	}
	args := []string{c.b.cfg.Path, "--mode", "rpc", "--config", filepath.Join(c.dir, "config.json"),
		"--path", workspace, "--offline", "--no-idle-logout"}
	c.workspace.started()
	c.mu.Lock()
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	c.mu.Unlock()
	cmd := proc.Command{Args: args, Dir: workspace, Env: c.b.environment(c.dir)}
	if _, err := proc.LookUp(cmd); err == nil && c.b.cfg.Confine != nil {
		if cmd, err = c.b.cfg.Confine(ctx, workspace, c.dir, c.hooks.name, cmd); err != nil {
			return fmt.Errorf("%w: %w", agent.ErrUnavailable, err)
		}
	}
	began, failed := make(chan struct{}, 1), make(chan *jsonrpc.Error, 1)
	return c.Launch(ctx, convo.Launch{
		Command: cmd,
		RPC: jsonrpc.Config{
			Notify: func(method string, params json.RawMessage) { c.notified(began, method, params) },
			Lost: func(e *jsonrpc.Error) {
				select {
				case failed <- e:
				default:
				}
			},
		},
		Patience: startPatience,
		Missing:  "Autohand CLI is not installed; install it, or give --autohand-path",
		Ready: func(ctx context.Context, p *jsonrpc.Program) error {
			if err := await(ctx, p, began, failed); err != nil {
				return err
			}
			return c.attach(ctx, p, id)
		},
	})
}

// prepare makes what the CLI needs around it.
func (c *conn) prepare(ctx context.Context) error {
	lent, err := c.Lend(c.b.cfg.Lend, c.CallTool)
	if err != nil {
		return err
	}
	if c.hooks == nil {
		if c.hooks, err = listen(c); err != nil {
			return fmt.Errorf("listen for hooks: %w", err)
		}
	}
	servers := []any{object{"name": server, "transport": "http", "url": lent.URL,
		"headers": object{lent.Header: lent.Value}}}
	return c.b.furnish(c.dir, servers, c.hooks.name)
}

// await waits until the CLI has begun.
func await(ctx context.Context, p *jsonrpc.Program, began <-chan struct{},
	failed <-chan *jsonrpc.Error) error {
	select {
	case <-began:
		return nil
	case e := <-failed:
		return startError(e)
	case <-ctx.Done():
		return ctx.Err()
	case <-p.Done():
	}
	select {
	case e := <-failed:
		return startError(e)
	default:
		return jsonrpc.ErrClosed
	}
}

// attach goes on with the conversation id, or remembers the id of the one that began.
func (c *conn) attach(ctx context.Context, p *jsonrpc.Program, id string) error {
	if id != "" {
		var got accepted
		err := p.Call(ctx, "autohand.session.attach", object{"sessionId": id}, &got)
		if _, ok := errors.AsType[*jsonrpc.Error](err); ok || err == nil && !got.Success {
			return errForgotten
		}
		return err
	}
	// The CLI begins with an id that holds only in this process; that of its memory is the first of
	// its list, since the state folder is this conversation's own.
	var got history
	if err := p.Call(ctx, "autohand.getHistory", object{"page": 1, "pageSize": 1}, &got); err != nil {
		return fmt.Errorf("ask Autohand CLI for its sessions: %w", err)
	}
	if len(got.Sessions) == 0 || got.Sessions[0].SessionID == "" {
		c.Logger.Warn("a conversation will not be resumed", "agent", Name, "error",
			"the CLI lists no session")
		return nil
	}
	return os.WriteFile(filepath.Join(c.dir, "id"), []byte(got.Sessions[0].SessionID+"\n"), 0o600)
}

// codeNoLogin is the code of the error with which the CLI ends without a login.
const codeNoLogin = -32011

func startError(e *jsonrpc.Error) error {
	if e.Code == codeNoLogin {
		return fmt.Errorf("%w: Autohand CLI is not signed in; run autohand login, then try again",
			agent.ErrUnavailable)
	}
	return fmt.Errorf("%w: Autohand CLI did not start: %s", agent.ErrUnavailable, plain(e.Message))
}
