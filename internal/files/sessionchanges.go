package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/calls"
	"webchat/internal/event"
	"webchat/internal/patch"
)

// most is how large a file is shown as changed, in bytes.
const most = 16 << 20

// ChangeLog is a session's.
type ChangeLog interface {
	// At returns the event of a sequence.
	At(ctx context.Context, seq int64) (event.Entry, error)
	// Index calls f with the index of the log.
	Index(ctx context.Context, f func(*calls.Index)) error
}

// ChangeSource finds what a session changed in its folder, file by file, against the commit at
// which it began. Nothing is changed, and nothing runs that a repository's settings name. Files
// outside of the folder are neither named nor read. Its methods may be called concurrently.
type ChangeSource struct {
	Log       ChangeLog
	Files     *Index // of the workspace
	Workspace string // absolute path
	// Closed reports files, by their paths in the workspace, whose text no list holds. nil: none.
	Closed func(path string) bool
	// Snapshots are those of all sessions, and Session is this one's id. nil: there are none.
	Snapshots *Snapshots
	Session   string
}

// ChangeList is what a session changed.
type ChangeList struct {
	Commit  string      `json:"commit,omitempty"` // what files are compared with; absent: with nothing
	Since   *event.Time `json:"since"`            // when the session began; null: it did not
	Note    string      `json:"note"`             // what is compared with what, or why nothing is
	Files   []Change    `json:"files"`            // by path
	Added   int         `json:"added"`            // lines, of files written since the session began
	Removed int         `json:"removed"`
	More    bool        `json:"more,omitempty"` // there are files that are not listed
}

// What a list says where there is none.
const (
	notBegun = "Nothing happened in this session yet."
	noGit    = "The list of what a session changed needs git, and the folder was in no git " +
		"repository when the session began."
	lostGit = "Git does not have the commit at which the session began any longer, so what " +
		"changed since is not known."
	failedGit = "Git could not list what changed. Check that git is installed and that the " +
		"repository is sound."
	noCommit = "The repository had no commit when the session began, so every file counts as new."
	since    = "Compared with commit %.7s, at which the session began. Includes uncommitted changes " +
		"from before the session."
)

// written is how far the clock of a file system may be behind.
const written = 2 * time.Second

// List returns what the session changed. The error is that of ctx or of the log.
func (s ChangeSource) List(ctx context.Context) (*ChangeList, error) {
	l := &ChangeList{Files: []Change{}, Note: notBegun}
	began, start, err := s.start(ctx)
	if err != nil || start == nil {
		return l, err
	}
	l.Since = new(event.Time(began))
	if start.GitRoot == "" || s.Files == nil {
		l.Note = noGit
		return l, nil
	}
	var list []Change
	err = ErrNoCommit
	if start.Commit != "" || start.Branch != "" { // else it may have had any commit
		list, l.More, err = s.Files.Since(ctx, start.Commit)
	}
	switch l.Note = fmt.Sprintf(since, start.Commit); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNoCommit):
		l.Note = lostGit
	case err != nil:
		l.Note = failedGit
	case start.Commit == "":
		l.Note = noCommit
	default:
		l.Commit = start.Commit
	}
	for _, c := range list {
		if c.Before = !c.Written.IsZero() && c.Written.Add(written).Before(began); !c.Before {
			l.Added, l.Removed = l.Added+c.Added, l.Removed+c.Removed
		}
		if s.Closed != nil && (s.Closed(c.Path) || c.From != "" && s.Closed(c.From)) {
			c.was, c.now, c.held = nil, nil, false
		}
		l.Files = append(l.Files, c)
	}
	return l, nil
}

// start is when and where the session began; nil if it did not.
func (s ChangeSource) start(ctx context.Context) (at time.Time, in *event.Context, err error) {
	var last int64
	if err = s.Log.Index(ctx, func(x *calls.Index) { last = x.Last() }); err != nil || last == 0 {
		return at, nil, err
	}
	e, err := s.Log.At(ctx, 1)
	if d, ok := e.Event.Data.(event.SessionStart); ok {
		at, in = e.Event.Timestamp, &d.Context
	}
	return at, in, err
}

// Was is what a file was when the session began.
type Was struct {
	Data  []byte
	Found bool // false: there was no such file
	Known bool // false: what it was is not known
}

// Was returns what a file was: path is its path then. Where git does not have that, the agent's
// edits are taken back by their diffs. [ErrTooLarge] for a file over 16 MiB.
func (s ChangeSource) Was(ctx context.Context, path string) (Was, error) {
	_, start, err := s.start(ctx)
	if err != nil || start == nil || !filepath.IsLocal(filepath.FromSlash(path)) {
		return Was{}, err
	}
	switch {
	case start.GitRoot == "" || s.Files == nil:
	case start.Commit == "" && start.Branch != "":
		return Was{Known: true}, nil
	default:
		data, found, err := s.Files.Was(ctx, start.Commit, path, most)
		if err == nil || errors.Is(err, ErrTooLarge) || ctx.Err() != nil {
			return Was{data, found, true}, errors.Join(err, ctx.Err())
		}
	}
	return s.beforeEdits(ctx, path)
}

// beforeEdits takes the agent's edits of a file back, the last one first.
func (s ChangeSource) beforeEdits(ctx context.Context, path string) (was Was, err error) {
	edits, err := s.edits(ctx, path)
	if err != nil || len(edits) == 0 {
		return Was{}, err
	}
	root, err := os.OpenRoot(s.Workspace)
	if err != nil { // the folder is away: what it was is not known
		return Was{}, nil
	}
	defer root.Close()
	text, _, err := now(root, path, most)
	if errors.Is(err, errUnread) {
		return Was{}, ErrTooLarge
	}
	was.Found = !edits[0].Creates()
	was.Known = err == nil
	for _, e := range slices.Backward(edits) {
		if was.Known {
			text, was.Known = patch.Revert(text, e)
		}
	}
	if was.Known {
		was.Data = text
	}
	return was, nil
}

// edits are those of a file by the agent's tools, the first one first.
func (s ChangeSource) edits(ctx context.Context, path string) (edits []event.Edit, err error) {
	var all []calls.Edit
	if err := s.Log.Index(ctx, func(x *calls.Index) { all = x.Edits(0) }); err != nil {
		return nil, err
	}
	for _, edit := range all {
		if !s.mayEdit(edit, path) {
			continue
		}
		e, err := s.reported(ctx, edit)
		if err != nil {
			return nil, err
		}
		edits = append(edits, s.editsOf(path, e)...)
	}
	return edits, nil
}

// reported reads what a call reported of its edits.
func (s ChangeSource) reported(ctx context.Context, change calls.Edit) (edit, error) {
	e, err := s.Log.At(ctx, change.Seq)
	return edit{change, calls.EditsOf(e.Event.Data)}, err
}

// mayEdit reports whether a call may have reported edits of a file, by its names.
func (s ChangeSource) mayEdit(e calls.Edit, path string) bool {
	return !e.Command && (s.names(e.File, path) ||
		slices.ContainsFunc(e.Names, func(name string) bool {
			return s.calls(name, path)
		}))
}

// editsOf are those of one file. What a command printed is not an edit.
func (s ChangeSource) editsOf(path string, e edit) (edits []event.Edit) {
	switch {
	case e.Command:
	case e.File != "" && len(e.edits) < 2:
		if s.names(e.File, path) {
			return e.edits
		}
	default:
		for _, change := range e.edits {
			if s.calls(change.Old, path) || s.calls(change.New, path) {
				edits = append(edits, change)
			}
		}
	}
	return edits
}

// calls reports whether a diff's name is that of a file of the workspace. Git puts a/ and b/ before
// names, of which absolute ones lose their first slash then.
func (s ChangeSource) calls(name, path string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(name, "a/"), "b/")
	return s.names(name, path) || rest != name && (s.names(rest, path) || s.names("/"+rest, path))
}

// names reports whether a name is that of a file of the workspace.
func (s ChangeSource) names(name, path string) bool {
	rel := filepath.FromSlash(name)
	if filepath.IsAbs(rel) {
		in, err := filepath.Rel(s.Workspace, rel)
		if err != nil {
			return false
		}
		rel = in
	}
	return name != "" && filepath.ToSlash(filepath.Clean(rel)) == path
}

// Diff is the list as one unified diff with the heads that git-apply(1) reads. Lines that begin
// with # name files of which both sides are not known, or that are too large.
func (l *ChangeList) Diff() []byte {
	var b bytes.Buffer
	for _, c := range l.Files {
		if c.held {
			c.diff(&b)
		} else {
			fmt.Fprintf(&b, "# %s: %s, not compared\n", c.Path, c.Kind)
		}
	}
	if l.More {
		b.WriteString("# There are more files than are compared.\n")
	}
	return b.Bytes()
}

func (c *Change) diff(b *bytes.Buffer) {
	from := cmp.Or(c.From, c.Path)
	was, now := "a/"+from, "b/"+c.Path
	fmt.Fprintf(b, "diff --git %s %s\n", quoted(was), quoted(now))
	switch c.Kind {
	case Created:
		b.WriteString("new file mode 100644\n")
		was = "/dev/null"
	case Deleted:
		b.WriteString("deleted file mode 100644\n")
		now = "/dev/null"
	case Renamed:
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", quoted(from), quoted(c.Path))
	}
	if c.Binary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", quoted(was), quoted(now))
	} else if text := patch.Unified(c.was, c.now); text != "" {
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s", ended(was), ended(now), text)
	}
}

// quoted is a name as git writes it in heads.
func quoted(name string) string {
	if !strings.ContainsAny(name, `"\`) {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// ended is a name as git writes it before a hunk: behind one with a blank stands a tab.
func ended(name string) string {
	if q := quoted(name); q != name || !strings.Contains(name, " ") {
		return q
	}
	return name + "\t"
}
