package acp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

// file is where the agent's own id of a session's conversation is kept; empty: nowhere.
func (b *Backend) file(sessionID string) string {
	if b.cfg.Home == "" || sessionID == "" || !filepath.IsLocal(sessionID) {
		return ""
	}
	return filepath.Join(b.cfg.Home, filepath.Base(sessionID))
}

// recollect returns the id that was remembered; empty: none is.
func (b *Backend) recollect(sessionID string) string {
	text, _ := os.ReadFile(b.file(sessionID)) // there may be none
	id, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return id
}

// remember keeps the id of the conversation that a session has.
func (b *Backend) remember(sessionID, id string) {
	if err := b.write(sessionID, id); err != nil {
		b.cfg.Logger.Warn("a conversation will not be resumed", "agent", b.cfg.Name, "error", err)
	}
}

func (b *Backend) write(sessionID, text string) error {
	name := b.file(sessionID)
	if name == "" {
		return nil
	}
	return errors.Join(os.MkdirAll(b.cfg.Home, 0o700), os.WriteFile(name, []byte(text+"\n"), 0o600))
}

// Forget implements [agent.Forgetter].
func (b *Backend) Forget(ctx context.Context, sessionID string) error {
	name, id := b.file(sessionID), b.recollect(sessionID)
	if name == "" {
		return nil
	}
	if id != "" && b.recalled().Deletes {
		if err := b.besides(ctx, "", func(ctx context.Context, p *process) error {
			return p.rpc.Call(ctx, "session/delete", object{"sessionId": id}, nil)
		}); err != nil {
			b.cfg.Logger.Warn("an agent may still remember a deleted conversation", "agent", b.cfg.Name, "error", err)
		}
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// besides starts the agent for something that no conversation is needed for, once at a time.
func (b *Backend) besides(ctx context.Context, dir string, do func(context.Context, *process) error) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case b.beside <- struct{}{}:
		defer func() { <-b.beside }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := b.cfg.refuseRisky(dir); dir != "" && err != nil {
		return err
	}
	rpc, err := jsonrpc.Start(proc.Command{Args: b.cfg.command(""), Dir: dir, Env: b.cfg.Env, Grace: time.Second}, jsonrpc.Config{Framing: jsonrpc.Lines, Logger: b.cfg.Logger})
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%w: %s is not installed; %s is not on PATH", agent.ErrUnavailable, b.cfg.Title, b.cfg.Command[0])
	}
	if err != nil {
		return err
	}
	p := &process{rpc: rpc}
	if err = p.greet(ctx, b.cfg); err == nil {
		err = do(ctx, p)
	}
	var theirs *jsonrpc.Error
	if errors.As(err, &theirs) && theirs.Code == codeLogin {
		err = b.signIn()
	}
	if stopped := rpc.Stop(stopPatience); stopped != nil { // it has answered, or failed, before
		b.cfg.Logger.Warn("an agent did not end cleanly", "agent", b.cfg.Name, "error", stopped)
	}
	return err
}
