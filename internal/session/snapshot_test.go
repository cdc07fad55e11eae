package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/files"
)

// kept are snapshots that note, with what else happens, in which order that was.
type kept struct {
	Snapshots
	mu    sync.Mutex
	what  []string
	err   error // of each
	never bool  // none ends by itself
}

func (k *kept) note(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.what = append(k.what, what)
}

func (k *kept) Warm(context.Context, string) error { k.note("warm"); return nil }

func (k *kept) Take(ctx context.Context, _, _, id string) error {
	what := "before"
	if strings.HasSuffix(id, "-end") {
		what = "after"
	}
	if k.never {
		<-ctx.Done()
		k.note("no " + what)
		return ctx.Err()
	}
	k.note(what)
	return k.err
}

func (k *kept) Count(context.Context, string, string, string, string) (files.Counted, error) {
	return files.Counted{Files: 3, Added: 5, Removed: 1}, nil
}

// A turn that acts has a snapshot of what was before its first act, and one of its end. An act
// waits two seconds for the first, and the turn says why there is none.
func TestSnapshotsOfATurn(t *testing.T) {
	runs := func(ctx context.Context, h agent.Host) error {
		_, err := h.CallTool(ctx, agent.ToolCall{ID: "c1", Name: "run", Arguments: []byte(`{}`)})
		return err
	}
	edits := func(ctx context.Context, h agent.Host) error {
		return errors.Join(h.Report(ctx, event.ToolExecutionStart{
			ToolCallID: "c2",
			ToolName:   "edit",
			Arguments:  []byte(`{}`),
			By:         event.ByAgent,
		}),
			h.Report(ctx, event.ToolExecutionComplete{
				ToolCallID: "c2",
				Success:    true,
				Result:     &event.ToolResult{Content: "done"},
			}))
	}
	for name, c := range map[string]struct {
		snapshots *kept
		counting  agent.Counting
		work      func(context.Context, agent.Host) error
		want      string
		unkept    event.NoSnapshot
		kept      bool
	}{
		"acts": {work: runs, want: "warm before run after", kept: true},
		"acts, no model": {
			work:     runs,
			counting: agent.CountsNothing,
			want:     "warm before run after",
			kept:     true,
		},
		"only says": {work: func(ctx context.Context, h agent.Host) error {
			return say(ctx, h, "m", "hello")
		}, want: "warm before"},
		"only says, no model": {work: func(ctx context.Context, h agent.Host) error {
			return say(ctx, h, "m", "hello")
		},
			counting: agent.CountsNothing, want: "warm"},
		"too slow": {
			snapshots: &kept{never: true},
			work:      runs,
			want:      "warm no before run",
			unkept:    event.SnapshotLate,
		},
		"too slow for a tool of the agent's own": {
			snapshots: &kept{never: true},
			work:      edits,
			want:      "warm no before",
			unkept:    event.SnapshotLate,
		},
		"no git": {
			snapshots: &kept{err: files.ErrNoGit},
			work:      runs,
			want:      "warm before run",
			unkept:    event.SnapshotNoGit,
		},
		"a tool of the agent's own": {work: edits, want: "warm before after", kept: true},
		"asks": {work: func(ctx context.Context, h agent.Host) error {
			_, err := h.AskPermission(ctx, *asked())
			return err
		}, counting: agent.CountsNothing, want: "warm before after", kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.snapshots == nil {
				c.snapshots = &kept{}
			}
			play(t, func(r *rig, conf *Config) {
				conf.Snapshots, conf.Permissions = c.snapshots, consent.ModeAllow
				r.backend.info.Counting = c.counting
				r.tools.tools = []agent.Tool{acts("run", asked(),
					func(context.Context, json.RawMessage, agent.Progress) (agent.Result, error) {
						c.snapshots.note("run")
						return agent.Result{Type: agent.Success}, nil
					})}
				r.backend.prompt = func(ctx context.Context, h agent.Host, _ agent.Prompt) error {
					return c.work(ctx, h)
				}
			}, func(r *rig) {
				began := time.Now()
				r.ask("do it")
				took := time.Since(began)
				synctest.Wait()
				got := slices.Clone(c.snapshots.what)
				if c.counting == agent.CountsNothing { // it begins when something is asked
					got = append([]string{"warm"}, got...)
				}
				if i := slices.Index(got, "warm"); i > 0 { // in the background
					got = slices.Insert(slices.Delete(got, i, i+1), 0, "warm")
				}
				equal(t, "what happened", strings.Join(got, " "), c.want)
				if strings.HasSuffix(name, "slow") && took != promptLimit+actLimit {
					t.Errorf("the act waited for %v", took)
				}
				for _, call := range all[event.ToolExecutionComplete](r) {
					equal(t, "the call's time, without the snapshot's", call.DurationMs, 0)
				}
				start, end := all[event.TurnStart](r)[0], all[event.TurnEnd](r)[0]
				want := ""
				if c.kept {
					want = start.Snapshot + "-end"
				}
				equal(t, "the start's", start.Snapshot, start.TurnID)
				equal(t, "the end's", end.Snapshot, want)
				equal(t, "files and lines", end.Changed == 3 && end.Added == 5 && end.Removed == 1, c.kept)
				equal(t, "why there is none", end.NoSnapshot, c.unkept)
			})
		})
	}
}
