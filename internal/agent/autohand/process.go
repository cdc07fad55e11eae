package autohand

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/agent"
	"webchat/internal/contain"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

const (
	// startPatience is how long the CLI may take to be ready.
	startPatience = time.Minute
	// stopPatience is how long it may take to end by itself, and to stop a turn.
	stopPatience = 700 * time.Millisecond
)

// errForgotten says that the CLI does not know the conversation any more.
var errForgotten = errors.New("the conversation is forgotten")

// process is a running CLI.
type process struct {
	*jsonrpc.Program
	ready  chan started        // has room for one
	failed chan *jsonrpc.Error // has room for one: why it did not start
}

// start starts the CLI and opens a conversation, the one of that id if it is not empty.
func (c *conn) start(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := refuseRisky(c.o.Workspace); err != nil {
		return err
	}
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(c.o.Workspace, ".autohand")); errors.Is(err, fs.ErrNotExist) {
		c.tidies = true
	}
	args := []string{c.b.cfg.Path, "--mode", "rpc", "--config", filepath.Join(c.dir, "config.json"), "--path", c.o.Workspace, "--offline", "--no-idle-logout"}
	lines, _ := scripts(c.o.Workspace)
	c.mu.Lock()
	c.scripts = lines
	if c.o.Model != "" {
		args = append(args, "--model", c.o.Model)
	}
	c.mu.Unlock()
	p := &process{ready: make(chan started, 1), failed: make(chan *jsonrpc.Error, 1)}
	program, err := jsonrpc.Start(proc.Command{Args: args, Dir: c.o.Workspace, Env: c.b.environment(c.dir), Grace: time.Second},
		jsonrpc.Config{Framing: jsonrpc.Lines, Logger: c.b.cfg.Logger, Notify: func(method string, params json.RawMessage) { c.notified(p, method, params) },
			Lost: func(e *jsonrpc.Error) {
				select {
				case p.failed <- e:
				default:
				}
			}})
	switch {
	case errors.Is(err, proc.ErrNotFound):
		return fmt.Errorf("%w: Autohand CLI is not installed; install it, or give --autohand-path", agent.ErrUnavailable)
	case err != nil:
		return fmt.Errorf("start Autohand CLI: %w", err)
	}
	p.Program = program
	c.mu.Lock()
	c.process = p
	c.mu.Unlock()
	if err := c.handshake(ctx, p, id); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: Autohand CLI did not get ready within %v%s", agent.ErrUnavailable, startPatience, p.Said())
		}
		return err
	}
	return nil
}

// prepare makes what the CLI needs around it.
func (c *conn) prepare(ctx context.Context) error {
	if c.unlend == nil {
		tools, end, err := c.b.cfg.Lend(c.o.SessionID, c.callTool)
		if err != nil {
			return err
		}
		c.tools, c.unlend = tools, end
	}
	if c.hooks == nil {
		hooks, err := listen(c)
		if err != nil {
			return fmt.Errorf("listen for hooks: %w", err)
		}
		c.hooks = hooks
	}
	return c.b.furnish(c.dir, c.servers(ctx), c.hooks.name)
}

// handshake waits until the CLI has begun, and goes on with the conversation id.
func (c *conn) handshake(ctx context.Context, p *process, id string) error {
	select {
	case <-p.ready:
	case e := <-p.failed:
		return startError(e)
	case <-p.Done():
		select {
		case e := <-p.failed:
			return startError(e)
		default:
		}
		c.drop(p) // then it has said all
		if errors.Is(p.Err(), contain.ErrPanic) {
			return agent.Broken(title)
		}
		return fmt.Errorf("%w: Autohand CLI ended while it started%s", agent.ErrUnavailable, p.Said())
	case <-ctx.Done():
		return ctx.Err()
	}
	if id != "" {
		var got accepted
		err := p.Call(ctx, "autohand.session.attach", object{"sessionId": id}, &got)
		if theirs := (*jsonrpc.Error)(nil); errors.As(err, &theirs) || err == nil && !got.Success {
			return errForgotten
		}
		return err
	}
	// The CLI begins with an id that holds only in this process; that of its memory is
	// the first of its list, since the state folder is this conversation's own.
	var got history
	if err := p.Call(ctx, "autohand.getHistory", object{"page": 1, "pageSize": 1}, &got); err != nil {
		return fmt.Errorf("ask Autohand CLI for its sessions: %w", err)
	}
	if len(got.Sessions) == 0 || got.Sessions[0].SessionID == "" {
		c.b.cfg.Logger.Warn("a conversation will not be resumed", "agent", Name, "error", "the CLI lists no session")
		return nil
	}
	return os.WriteFile(filepath.Join(c.dir, "id"), []byte(got.Sessions[0].SessionID+"\n"), 0o600)
}

// codeNoLogin is the code of the error with which the CLI ends without a login.
const codeNoLogin = -32011

func startError(e *jsonrpc.Error) error {
	if e.Code == codeNoLogin {
		return fmt.Errorf("%w: Autohand CLI is not signed in; run autohand login, then try again", agent.ErrUnavailable)
	}
	return fmt.Errorf("%w: Autohand CLI did not start: %s", agent.ErrUnavailable, plain(e.Message))
}
