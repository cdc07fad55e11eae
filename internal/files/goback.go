package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// RestoreOf says what is brought back in a workspace, for a session.
type RestoreOf struct {
	Workspace, Session string
	// From and To are snapshots: what differs between them is brought back from what it was in the
	// first to what it was in the other. To undo a turn, From is the later one; to take that back, the
	// earlier one.
	From, To string
	// Acts, in place of both, are the snapshots before and after each act since a moment, in their
	// order: what differs between that moment and now is brought back, but for what changed between
	// two acts or after the last one. Somebody else did that.
	Acts []Act
	// Also are paths that are brought back even if somebody else changed them.
	Also []string
	// ID is unique in the session: ID-was and ID-left are the snapshots of before and after.
	ID  string
	Dry bool // nothing is written, and nothing kept
	// Texts, with Dry, returns what files are and what they would be, too.
	Texts bool
}

// Act is what a turn, or going back, did: the snapshots before and after it. A turn that still runs
// has none after it.
type Act struct{ Was, Left string }

// WasOf and LeftOf name the snapshots before and after a restore.
func WasOf(id string) string  { return id + "-was" }
func LeftOf(id string) string { return id + "-left" }

// Restore brings files back, each only where it still is what is brought back from: others are
// named and left alone. Once all are written it calls log. If one cannot be written, or log fails,
// none is, and the error is a [NotRestored] or that of log. After a kill [Snapshots.Settle] finds
// out which it is.
//
// The error is [ErrNoSnapshot] if a snapshot is not kept. No link is followed, and nothing outside
// of the workspace is written.
func (s *Snapshots) Restore(ctx context.Context, of RestoreOf,
	log func(Restored) error) (r Restored, err error) {
	p, leave, err := s.enter(ctx, of.Workspace)
	if err != nil {
		return r, err
	}
	defer leave()
	if _, err := os.Lstat(string(p.journal())); err == nil {
		return r, fmt.Errorf("%w: going back was interrupted in %s; open its session first",
			ErrNoSnapshot, of.Workspace)
	}
	var now snapshot
	if !of.Dry || len(of.Acts) > 0 {
		now, err = p.present(ctx, s)
	}
	if err != nil {
		return r, fmt.Errorf("%w of %s: %w", ErrNoSnapshot, of.Workspace, err)
	}
	b, err := p.bringing(of, now)
	if err != nil {
		return r, fmt.Errorf("bring back what changed in %s: %w", of.Workspace, err)
	}
	root, err := os.OpenRoot(of.Workspace)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer root.Close()
	r = NoneRestored()
	r.notKept(b.from, b.to)
	steps := p.plan(root, b.list, b.from, b.to, b.others, &r)
	more, err := p.planGit(ctx, root, b.from, b.to, b.git, &r)
	if err != nil {
		return r, err
	}
	steps = inOrder(append(steps, more...))
	for i := range steps {
		steps[i].mark = of.ID
		if t := steps[i]; t.deletes() {
			r.Deleted = append(r.Deleted, t.path)
		} else {
			r.Written = append(r.Written, t.path)
		}
	}
	if of.Dry {
		if len(of.Acts) > 0 {
			p.ignored(ctx, root, b, &r)
		}
		if of.Texts {
			r.Texts, r.Since = p.texts(steps), b.to.At
		}
		return r, ctx.Err()
	}
	return r, p.restore(ctx, s, root, of, now, b.to, steps, func() error { return log(r) })
}

// present is a snapshot of what the workspace is, that no session has yet.
func (p *shelf) present(ctx context.Context, s *Snapshots) (snap snapshot, err error) {
	limited, cancel := context.WithTimeout(ctx, longestTake)
	defer cancel()
	snap.At = s.cfg.Now()
	err = p.gather(limited, &snap)
	return snap, err
}

// bringing is what may be brought back, before it is compared with what is there.
type bringing struct {
	from, to snapshot
	list     []difference
	others   map[string]bool // what somebody else changed
	git      othersInGit
}

// othersInGit is what somebody else changed in a repository.
type othersInGit struct{ refs, index bool }

func (p *shelf) bringing(of RestoreOf, now snapshot) (b bringing, err error) {
	b.others = map[string]bool{}
	if len(of.Acts) == 0 {
		b.list, b.from, b.to, err = p.between(of.Session, of.From, of.To)
		return b, err
	}
	left := now
	for _, act := range slices.Backward(of.Acts) {
		if act.Left != "" {
			after, err := p.load(of.Session, act.Left)
			if err == nil {
				err = b.gap(p, after, left)
			}
			if err != nil {
				return b, err
			}
		}
		if left, err = p.load(of.Session, act.Was); err != nil {
			return b, err
		}
	}
	for _, path := range of.Also {
		delete(b.others, path)
	}
	b.from, b.to = now, left
	b.list, err = p.differing(b.from, b.to)
	return b, err
}

// gap adds what changed between two acts, or after the last one.
func (b *bringing) gap(p *shelf, was, left snapshot) error {
	list, err := p.differing(was, left)
	for _, d := range list {
		b.others[d.path] = true
	}
	if err != nil || was.git == left.git {
		return err
	}
	a, staged, err := p.pointersOf(was)
	if err != nil {
		return err
	}
	z, stagedThen, err := p.pointersOf(left)
	same := len(a) == len(z)
	for name, to := range a {
		same = same && z[name] == to
	}
	b.git.refs = b.git.refs || !same
	b.git.index = b.git.index || staged != stagedThen &&
		!p.sameIndex(context.Background(), staged, stagedThen)
	return err
}

// journal is what a restore is about to do, while it does.
type journal struct {
	Session string        `json:"session"`
	ID      string        `json:"id"`
	Steps   []journalStep `json:"steps"`
}

type journalStep struct {
	Path                               string
	FromMode, FromHash, ToMode, ToHash string
}

// journalFile is where it stands.
type journalFile string

func (p *shelf) journal() journalFile { return journalFile(filepath.Join(p.dir, journalName)) }

const journalName = "restore.json"

// restore takes the steps and has them logged, or takes none of them.
func (p *shelf) restore(ctx context.Context, s *Snapshots, root *os.Root, of RestoreOf, now,
	to snapshot, steps []step, log func() error) (err error) {
	if err := p.keep(now, of.Session, WasOf(of.ID)); err != nil {
		return err
	}
	j := journal{Session: of.Session, ID: of.ID}
	for _, t := range steps {
		j.Steps = append(j.Steps,
			journalStep{t.path, t.from.mode, t.from.hash, t.to.mode, t.to.hash})
	}
	if err := p.journal().write(j); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreMissing(os.Remove(string(p.journal())))) }()
	if err := p.apply(ctx, root, now, to, steps); err != nil {
		return err
	}
	left, err := p.present(ctx, s)
	if err == nil {
		err = p.keep(left, of.Session, LeftOf(of.ID))
	}
	if err == nil {
		err = log()
	}
	if err != nil {
		p.revert(root, now, steps)
	}
	return err
}

// write notes on the disk what will be done.
func (name journalFile) write(j journal) error {
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(string(name)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), string(name))
}

func (name journalFile) read() (j journal, err error) {
	text, err := os.ReadFile(string(name))
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	return j, err
}

// Settle ends what a restore for a session had begun when its process was killed: if its log has it
// by its id, it is done; else each file is what it was, but for those that are something else by
// now.
func (s *Snapshots) Settle(ctx context.Context, workspace, session string,
	logged func(id string) (bool, error)) error {
	j, err := s.shelf(workspace).journal().read() // others need not be waited for
	if errors.Is(err, fs.ErrNotExist) || err == nil && j.Session != session {
		return nil
	}
	p, leave, entered := s.enter(ctx, workspace)
	if entered != nil {
		return entered
	}
	defer leave()
	done := false
	if err == nil {
		done, err = logged(j.ID)
	}
	if err == nil {
		err = p.settle(j, done)
	}
	if err != nil {
		return fmt.Errorf("end what going back had begun in %s: %w", workspace, err)
	}
	return os.Remove(string(p.journal()))
}

func (p *shelf) settle(j journal, done bool) error {
	now, err := p.load(j.Session, WasOf(j.ID))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(p.workspace)
	if err != nil {
		return ignoreMissing(err)
	}
	defer root.Close()
	var steps []step
	for _, t := range j.Steps {
		steps = append(steps, step{path: t.Path, mark: j.ID, from: version{t.FromMode, t.FromHash},
			to: version{t.ToMode, t.ToHash}})
	}
	for _, t := range steps {
		t.temp = t.tempName()
		t.discard(root)
	}
	if !done {
		p.revert(root, now, steps)
		p.clear(root, now, steps) // folders that were only made
	}
	return nil
}

// Unsettled returns the sessions for which a restore was begun and not ended: [Snapshots.Settle]
// does that, once the log of each can be asked.
func (s *Snapshots) Unsettled() (sessions []string) {
	names, _ := filepath.Glob(filepath.Join(s.cfg.Dir, "*", journalName))
	for _, name := range names {
		if j, err := journalFile(name).read(); err == nil {
			sessions = append(sessions, j.Session)
		}
	}
	return sessions
}
