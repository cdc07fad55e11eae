package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// RewindOf says where the session goes back to, and with what.
type RewindOf struct {
	MessageID string // before this prompt
	// TurnID, in place of a prompt, has the files of one turn brought back, and nothing else. Again:
	// what that took away.
	TurnID string
	Again  bool

	Files     bool     // what they were before the prompt
	FilesOnly bool     // the conversation stays
	Also      []string // files that are brought back though somebody else changed them
	Dry       bool     // nothing is done
	Texts     bool     // with Dry: what files are, and what they would be, is returned, too
}

// goingBack is how a session goes back to an earlier prompt, and takes that back: what its agent
// forgets, and what its files are, are one thing and one event.
type goingBack struct {
	*core
	*conversation
}

// back is what one going back does.
type back struct {
	event event.SessionRewound
	files files.RestoreOf // without acts and snapshots: files stay
	lost  []files.NotUndone
}

// Rewind has the session go on from before a prompt, or brings back the files of one turn. All of
// that happens and is logged, or nothing does. It returns what happens to files.
//
// [ErrWorking] while a turn runs or waits, [eventlog.ErrNotFound] for a prompt that the log does
// not have, [agent.ErrUnsupported] where the agent cannot go back to it, [files.ErrNoSnapshot]
// where it is not known what files were, and [files.NotRestored].
func (s *goingBack) Rewind(ctx context.Context, of RewindOf) (files.Restored, error) {
	var b back
	var err error
	if of.TurnID != "" {
		b, err = s.turnBack(ctx, of)
	} else {
		b, err = s.promptBack(ctx, of)
	}
	if err != nil {
		return files.Restored{}, err
	}
	b.files.Also, b.files.Texts = of.Also, of.Texts
	return s.do(ctx, b, of.Dry)
}

// BringBack takes back the last [goingBack.Rewind] that was not. The errors are the same;
// [eventlog.ErrNotFound]: there is none.
func (s *goingBack) BringBack(ctx context.Context) (files.Restored, error) {
	return s.bringLastBack(ctx, false)
}

// TryBringBack returns what [goingBack.BringBack] would come to. Nothing is changed.
func (s *goingBack) TryBringBack(ctx context.Context) (files.Restored, error) {
	return s.bringLastBack(ctx, true)
}

func (s *goingBack) bringLastBack(ctx context.Context, dry bool) (files.Restored, error) {
	var last calls.Rewound
	var known bool
	err := s.events.Index(ctx, func(x *calls.Index) { last, known = x.Back().Last("") })
	if err != nil || !known {
		return files.Restored{}, cmp.Or(err, fmt.Errorf("going back, to be taken back: %w",
			eventlog.ErrNotFound))
	}
	return s.do(ctx, s.bringBack(last), dry)
}

// bringBack is what takes a going back back.
func (s *goingBack) bringBack(last calls.Rewound) (b back) {
	b.event = last.SessionRewound
	b.event.Undoes, b.event.Forgets, b.event.Files, b.event.Given = last.Seq, "", nil, false
	if f := last.Files; f != nil {
		b.files.From, b.files.To = files.LeftOf(f.ID), files.WasOf(f.ID)
	}
	return b
}

// turnBack is what undoes one turn, or does it again.
func (s *goingBack) turnBack(ctx context.Context, of RewindOf) (b back, err error) {
	var turns []calls.Turn
	var last calls.Rewound
	var undone bool
	var ran []calls.Ran
	err = s.events.Index(ctx, func(x *calls.Index) {
		turns = x.Turns()
		last, undone = x.Back().Last(of.TurnID)
		ran = x.Ran(0)
	})
	i := slices.IndexFunc(turns, func(t calls.Turn) bool { return t.ID == of.TurnID })
	switch {
	case err != nil:
		return b, err
	case i < 0:
		return b, files.ErrNoTurn
	case s.cfg.Snapshots == nil || turns[i].Left == "":
		return b, cmp.Or(files.Unkept(turns[i]), files.ErrNoSnapshot)
	}
	t := turns[i]
	b.event = event.SessionRewound{TurnID: t.ID, After: t.Start - 1, FilesOnly: true}
	b.files.From, b.files.To = t.Left, t.Was
	if of.Again {
		if b.files.From, b.files.To = t.Was, t.Left; undone {
			b.event.Undoes = last.Seq
		}
		return b, nil
	}
	b.lost = cannotUndo(ran, t.Start, t.End)
	return b, nil
}

// promptBack is what goes back to before a prompt.
func (s *goingBack) promptBack(ctx context.Context, of RewindOf) (b back, err error) {
	prompt, err := s.events.Prompt(ctx, of.MessageID)
	switch {
	case err != nil:
		return b, err
	case prompt.Agent == "" && !of.FilesOnly && !of.Dry:
		return b, s.noRewind()
	case prompt.Turn == 0:
		return b, fmt.Errorf("the prompt has no turn of its own: %w", agent.ErrUnsupported)
	}
	b.event = event.SessionRewound{
		ToMessageID: of.MessageID,
		After:       prompt.Turn - 1,
		Waited:      prompt.Waited,
		Forgets:     prompt.Agent,
		FilesOnly:   of.FilesOnly,
	}
	if of.FilesOnly {
		b.event.Forgets = ""
	}
	var turns []calls.Turn
	var rewound []calls.Rewound
	var ran []calls.Ran
	if err := s.events.Index(ctx, func(x *calls.Index) {
		turns, rewound, ran = x.Turns(), x.Back().Rewound, x.Ran(prompt.Turn)
	}); err != nil {
		return b, err
	}
	b.lost = cannotUndo(ran, prompt.Turn, 0)
	if !of.Files && !of.FilesOnly {
		return b, nil
	}
	if err := b.actsSince(prompt.Turn, turns, rewound); err != nil {
		return b, err
	}
	if s.cfg.Snapshots == nil {
		return b, files.ErrNoSnapshot
	}
	return b, nil
}

// actsSince takes what changed files from an event on, in order: turns, and what went back.
func (b *back) actsSince(seq int64, turns []calls.Turn, rewound []calls.Rewound) error {
	type act struct {
		at int64
		files.Act
	}
	var acts []act
	for _, t := range turns {
		switch {
		case t.Start < seq:
		case t.Left != "" || t.End == 0 && t.Was != "":
			acts = append(acts, act{t.Start, files.Act{Was: t.Was, Left: t.Left}})
		case t.NoSnapshot != "" && t.Start == seq:
			return files.Unkept(t)
		case t.NoSnapshot != "":
			b.lost = append(b.lost, files.NotUndone{What: "what “" + t.Line + "” changed", At: t.At})
		}
	}
	for _, r := range rewound {
		if f := r.Files; f != nil && r.Seq > seq {
			acts = append(acts, act{r.Seq, files.Act{Was: files.WasOf(f.ID), Left: files.LeftOf(f.ID)}})
		}
	}
	slices.SortFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	for _, a := range acts {
		b.files.Acts = append(b.files.Acts, a.Act)
	}
	return nil
}

// cannotUndo are the commands between two events whose effects are elsewhere; until 0: all since.
func cannotUndo(ran []calls.Ran, after, until int64) (all []files.NotUndone) {
	for _, c := range ran {
		if c.Start > after && (until == 0 || c.Start < until) && policy.Leaves(c.Command) {
			all = append(all, files.NotUndone{
				What: wording.FirstLine(c.Command, 80),
				At:   c.At,
			})
		}
	}
	return all
}

// do goes back, or only says what that does to files.
func (s *goingBack) do(ctx context.Context, b back, dry bool) (r files.Restored, err error) {
	b.files.Workspace, b.files.Session = s.cfg.Workspace, string(s.id)
	b.files.ID, b.files.Dry = strings.ToLower(string(event.NewID())), dry
	restores := b.files.From != "" || len(b.files.Acts) > 0
	if restores && s.cfg.Snapshots == nil {
		return r, files.ErrNoSnapshot
	}
	run := func(ctx context.Context) error {
		if !restores {
			if r = files.NoneRestored(); !dry {
				err = s.commit(ctx, b, nil)
			}
			return err
		}
		r, err = s.cfg.Snapshots.Restore(ctx, b.files, func(r files.Restored) error {
			return s.commit(ctx, b, &r)
		})
		return err
	}
	if dry {
		err = run(ctx)
	} else {
		err = s.aside(ctx, run)
	}
	r.NotUndone = append(r.NotUndone, b.lost...)
	return r, err
}

// commit logs that the session went back. From then on it did, also after a kill. What the agent is
// to forget it forgets before its next turn, so that this can be taken back until then; at once, if
// it may begin a turn by itself.
func (s *goingBack) commit(ctx context.Context, b back, r *files.Restored) error {
	if r != nil {
		b.event.Files = &event.FilesRewound{
			ID:      b.files.ID,
			Written: int64(len(r.Written)),
			Deleted: int64(len(r.Deleted)),
			Kept:    int64(len(r.Kept)),
		}
	}
	switch {
	case b.event.FilesOnly:
	case b.event.Undoes > 0:
		given, err := s.forgotten(ctx, b.event.Undoes)
		if err != nil {
			return err
		}
		b.event.Given = given
	case len(s.Tasks()) > 0:
		err := s.withAgent(ctx, "going back", func(conn *liveConn) error {
			rewinder, ok := can[agent.Rewinder](conn)
			if !ok {
				return s.noRewind()
			}
			return rewinder.Rewind(ctx, b.event.Forgets)
		})
		if err != nil {
			return fmt.Errorf("go back to that prompt: %w", err)
		}
		b.event.Forgets = ""
	}
	err := s.events.Persist(s.ctx, func() error { return s.beginLocked(b.event) })
	if err != nil || b.event.FilesOnly {
		return err
	}
	return s.readTaken(ctx, false)
}

// forgotten reports whether the agent may have forgotten what a going back left behind.
func (s *goingBack) forgotten(ctx context.Context, seq int64) (yes bool, err error) {
	err = s.events.Index(ctx, func(x *calls.Index) {
		_, at := x.Back().Forgets()
		yes = at != seq || slices.ContainsFunc(x.Turns(), func(t calls.Turn) bool {
			return !t.Own && t.Start > seq
		})
		for _, r := range x.Back().Rewound {
			yes = yes || r.Seq == seq && r.Forgets == ""
		}
	})
	return yes, err
}

func (s *goingBack) noRewind() error {
	return fmt.Errorf("%s cannot go back to that prompt: %w; branch there instead",
		s.events.Summary().Backend, agent.ErrUnsupported)
}

// settle ends what an earlier process had begun to do with files.
func (s *goingBack) settle(ctx context.Context) error {
	if s.cfg.Snapshots == nil {
		return nil
	}
	return s.cfg.Snapshots.Settle(ctx, s.cfg.Workspace, string(s.id), func(id string) (done bool,
		err error) {
		err = s.events.Index(ctx, func(x *calls.Index) {
			done = slices.ContainsFunc(x.Back().Rewound, func(r calls.Rewound) bool {
				return r.Files != nil && r.Files.ID == id
			})
		})
		return done, err
	})
}

// forget has the agent forget, at the beginning of a turn, what the session went back before.
func (s *conversation) forget(ctx context.Context, t *turn) error {
	var prompt string
	var seq int64
	tried := false
	err := s.events.Index(ctx, func(x *calls.Index) {
		prompt, seq = x.Back().Forgets()
		tried = slices.ContainsFunc(x.Turns(), func(o calls.Turn) bool {
			return !o.Own && o.Start > seq && o.ID != t.id
		})
	})
	if err != nil || prompt == "" {
		return err
	}
	err = s.withAgent(ctx, "going back", func(conn *liveConn) error {
		if conn.since >= seq {
			return nil // it was never told
		}
		rewinder, ok := can[agent.Rewinder](conn)
		if !ok {
			return agent.ErrUnsupported
		}
		return rewinder.Rewind(ctx, prompt)
	})
	if tried && errors.Is(err, agent.ErrUnsupported) { // it did, and was killed then
		return nil
	}
	if err != nil {
		return fmt.Errorf("forget what came after the prompt that you went back to: %w; "+
			"bring it back, or branch there instead", err)
	}
	return nil
}

// owed is the text of what was brought back after the agent had forgotten it; empty: there is none,
// or it was given.
func (s *conversation) owed(ctx context.Context) (text string, err error) {
	var parts []eventlog.Stretch
	err = s.events.Index(ctx, func(x *calls.Index) {
		b := x.Back()
		for _, r := range b.Rewound {
			if r.Given && r.Seq > b.Answered {
				parts = append(parts, eventlog.StretchesOf(r.SessionRewound, r.Seq)...)
			}
		}
	})
	if err != nil || len(parts) == 0 {
		return "", err
	}
	var all []event.Entry
	err = s.events.Scan(ctx, 0, func(e event.Entry) bool {
		if eventlog.IsLeft(parts, e.Seq) {
			all = append(all, e)
		}
		return true
	})
	return branchText(backHead, BranchEvents(all, s.events.Summary().Open.Left)), err
}

// aside has the agent do something while no turn runs and none begins.
func (s *core) aside(ctx context.Context, do func(context.Context) error) error {
	ctx, leave, err := s.join(ctx)
	if err != nil {
		return err
	}
	defer leave()
	err = s.change(ctx, func() error {
		switch {
		case s.turn != nil || s.rewinding:
			return fmt.Errorf("%w; stop it, or wait for its end, and try again", ErrWorking)
		case len(s.queue) > 0:
			return fmt.Errorf("%w, or waits to be sent: send what waits, or take it back, and try again",
				ErrWorking)
		}
		s.rewinding = true
		return nil
	})
	if err != nil {
		return err
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rewinding = false
	}()
	return do(ctx)
}
