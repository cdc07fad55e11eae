package acp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/document"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
)

// file is where the agent's own id of a session's conversation is kept; empty means nowhere.
func (b *Backend) file(sessionID string) string {
	if b.cfg.Home == "" || sessionID == "" || !filepath.IsLocal(sessionID) {
		return ""
	}
	return filepath.Join(b.cfg.Home, filepath.Base(sessionID))
}

// recollect returns the id that was remembered; empty if none is.
func (b *Backend) recollect(sessionID string) string {
	text, _ := os.ReadFile(b.file(sessionID)) // there may be none
	id, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return id
}

// workspaceOf returns the workspace of a session that is remembered; empty if it is not known.
func (b *Backend) workspaceOf(sessionID string) string {
	text, _ := os.ReadFile(b.file(sessionID)) // there may be none
	_, workspace, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return workspace
}

// remember keeps the id of the conversation that a session has, and its workspace.
func (b *Backend) remember(sessionID, id, workspace string) {
	name := b.file(sessionID)
	if name == "" {
		return
	}
	if err := errors.Join(os.MkdirAll(b.cfg.Home, 0o700),
		document.Write(name, []byte(id+"\n"+workspace+"\n"))); err != nil {
		b.cfg.Logger.Warn("a conversation will not be resumed", "agent", b.cfg.Name, "error", err)
	}
}

// Forget implements [agent.Forgetter].
func (b *Backend) Forget(ctx context.Context, sessionID string) error {
	name, id := b.file(sessionID), b.recollect(sessionID)
	if name == "" {
		return nil
	}
	if id != "" && b.recalled().Deletes {
		if err := b.delete(ctx, id, b.workspaceOf(sessionID)); err != nil {
			b.cfg.Logger.Warn("an agent may still remember a deleted conversation", "agent", b.cfg.Name,
				"error", err)
		}
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// delete starts the agent to have it delete a conversation, once at a time.
func (b *Backend) delete(ctx context.Context, id, workspace string) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	select {
	case b.beside <- struct{}{}:
		defer func() { <-b.beside }()
	case <-ctx.Done():
		return ctx.Err()
	}
	cmd := proc.Command{Args: b.cfg.command(""), Env: b.cfg.Env, Grace: convo.StopPatience}
	if workspace != "" { // else it was never confined
		cmd.Dir = workspace
		confined, err := b.cfg.confine(ctx, workspace, cmd)
		if err != nil {
			return err
		}
		cmd = confined
	}
	p, err := jsonrpc.Start(cmd, jsonrpc.Config{Framing: jsonrpc.Lines, Logger: b.cfg.Logger})
	if err != nil {
		return err
	}
	if _, err = b.cfg.greet(ctx, p); err == nil {
		err = p.Call(ctx, "session/delete", object{"sessionId": id}, nil)
	}
	return errors.Join(err, p.Stop(convo.StopPatience)) // it has answered, or failed, before
}

// kept is what is remembered of an agent from one conversation to the next.
type kept struct {
	Version string
	Deletes bool // it can delete a conversation
	Choices agent.Choices
}

// offersFile is in the backend's Home, beside a file for each conversation.
const offersFile = "offers.json"

// keep changes what is remembered.
func (b *Backend) keep(change func(*kept)) {
	_ = os.MkdirAll(b.cfg.Home, 0o700) // else there is none, or the next says so
	if err := b.kept.Hold(func(k kept) kept { change(&k); return k }); err != nil {
		b.cfg.Logger.Warn("what an agent offers will not be known after a restart", "agent", b.cfg.Name,
			"error", err)
	}
}

// recalled returns what is remembered.
func (b *Backend) recalled() kept { return b.kept.Get() }

// Offers implements [agent.Offerer].
func (b *Backend) Offers(context.Context) agent.Choices { return b.recalled().Choices }

// Models implements [agent.Backend]: those of the last conversation, since an agent lists them only
// within one.
func (b *Backend) Models(context.Context) ([]agent.Model, error) {
	return b.recalled().Choices.Models, nil
}
