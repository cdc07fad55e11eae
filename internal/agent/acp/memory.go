package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
	"webchat/internal/proc"
	"webchat/internal/wording"
)

// memory is what is kept of a session: the agent's own id of its conversation.
type memory struct {
	id      string // empty: nothing is
	adopted bool   // it was begun elsewhere, and not opened here yet
	theirs  bool   // it was begun elsewhere
}

// The second line in the file of a memory, whose first is the id.
const (
	wordAdopted = "adopted"
	wordTheirs  = "theirs"
)

// file is where a memory is kept; empty: nowhere.
func (b *Backend) file(sessionID string) string {
	if b.cfg.Home == "" || sessionID == "" || !filepath.IsLocal(sessionID) {
		return ""
	}
	return filepath.Join(b.cfg.Home, filepath.Base(sessionID))
}

func (b *Backend) recollect(sessionID string) (m memory) {
	text, err := os.ReadFile(b.file(sessionID))
	if err != nil {
		return m
	}
	id, word, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return memory{id, word == wordAdopted, word == wordAdopted || word == wordTheirs}
}

// remember keeps the id of the conversation that a session has.
func (b *Backend) remember(sessionID, id string) {
	if was := b.recollect(sessionID); was.id == id && was.theirs {
		id += "\n" + wordTheirs
	}
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

// Forget implements [agent.Forgetter]. A conversation that was begun elsewhere stays with
// the agent.
func (b *Backend) Forget(ctx context.Context, sessionID string) error {
	name, m := b.file(sessionID), b.recollect(sessionID)
	if name == "" {
		return nil
	}
	if m.id != "" && !m.theirs && b.recalled().Deletes {
		if err := b.besides(ctx, "", func(ctx context.Context, p *process) error {
			return p.rpc.Call(ctx, "session/delete", object{"sessionId": m.id}, nil)
		}); err != nil {
			b.cfg.Logger.Warn("an agent may still remember a deleted conversation", "agent", b.cfg.Name, "error", err)
		}
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

const (
	mostConversations = 100
	mostPages         = 10
	mostTitle         = 150 // characters
)

// Conversations implements [agent.Adopter]: those that the agent lists, without those of
// webchat's sessions.
func (b *Backend) Conversations(ctx context.Context, workspace string) (found []agent.Conversation, err error) {
	if b.cfg.Home == "" {
		return nil, agent.ErrUnsupported
	}
	ours := map[string]bool{}
	entries, _ := os.ReadDir(b.cfg.Home) // there may be none yet
	for _, e := range entries {
		ours[b.recollect(e.Name()).id] = true
	}
	err = b.besides(ctx, workspace, func(ctx context.Context, p *process) error {
		if p.caps.AgentCapabilities.SessionCapabilities.List == nil {
			return fmt.Errorf("%s does not say which conversations it has: %w", b.cfg.Title, agent.ErrUnsupported)
		}
		ask := object{"cwd": workspace}
		for range mostPages {
			var page listed
			if err := p.rpc.Call(ctx, "session/list", ask, &page); err != nil {
				return fmt.Errorf("ask %s for its conversations: %w", b.cfg.Title, err)
			}
			for _, one := range page.Sessions {
				if one.SessionID == "" || ours[one.SessionID] || strings.ContainsAny(one.SessionID, " \t\r\n") || one.Cwd != "" && filepath.Clean(one.Cwd) != workspace {
					continue
				}
				at, _ := time.Parse(time.RFC3339, one.UpdatedAt) // else it is not known
				title := wording.Cut(wording.Line(one.Title), mostTitle)
				found = append(found, agent.Conversation{ID: one.SessionID, Title: cmp.Or(title, "Without a title"), UpdatedAt: at})
			}
			if page.NextCursor == "" {
				break
			}
			ask["cursor"] = page.NextCursor
		}
		return nil
	})
	slices.SortStableFunc(found, func(a, b agent.Conversation) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return found[:min(len(found), mostConversations)], err
}

// Adopt implements [agent.Adopter].
func (b *Backend) Adopt(ctx context.Context, sessionID, workspace, id string) (agent.Conversation, error) {
	all, err := b.Conversations(ctx, workspace)
	if err != nil {
		return agent.Conversation{}, err
	}
	i := slices.IndexFunc(all, func(one agent.Conversation) bool { return one.ID == id })
	if i < 0 {
		return agent.Conversation{}, fmt.Errorf("%s has no such conversation in this folder: %w", b.cfg.Title, agent.ErrUnsupported)
	}
	return all[i], b.write(sessionID, id+"\n"+wordAdopted)
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
