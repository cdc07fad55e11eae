package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/outputs"
)

// most is how large a file is shown as changed, in bytes.
const most = 16 << 20

// Log is a session's.
type ChangeLog interface {
	// Events returns up to limit entries after a place, all if limit is 0.
	Events(ctx context.Context, after int64, limit int) ([]event.Entry, error)
}

// ChangeSource finds what a session changed in its folder, file by file: against the commit at
// which it began where git has that, else against what the session has of the files. Nothing is
// changed, and nothing runs that a repository's settings name. What is not known is stated
// ([ChangedFile].Known, and [ChangeList].Note in words). Files outside of the folder are neither
// named nor read. Its methods may be called concurrently.
type ChangeSource struct {
	Log       ChangeLog
	Files     *Index // of the workspace
	Outputs   *outputs.Store
	Workspace string // absolute path
	// Closed reports files, by their paths in the workspace, whose text no list holds. nil:
	// none.
	Closed func(path string) bool
}

// List is what a session changed.
type ChangeList struct {
	Commit  string        `json:"commit,omitempty"` // what files are compared with; absent: with what the session has of them
	Since   *event.Time   `json:"since"`            // when the session began; null: it did not
	Note    string        `json:"note"`             // what is compared with what, and what is not known
	Files   []ChangedFile `json:"files"`            // by path
	Added   int           `json:"added"`            // lines, of files written since the session began
	Removed int           `json:"removed"`
	More    bool          `json:"more,omitempty"` // there are files that are not listed

	texts []texts // of Files
}

// File is one that changed.
type ChangedFile struct {
	Path      string      `json:"path"`           // relative to the workspace, with slashes
	From      string      `json:"from,omitempty"` // of a renamed file: its path before
	Kind      ChangeKind  `json:"kind"`
	Added     int         `json:"added"` // lines
	Removed   int         `json:"removed"`
	Binary    bool        `json:"binary,omitempty"`
	Uncounted bool        `json:"uncounted,omitempty"` // its lines are not counted: it is too large, or no regular file
	Before    bool        `json:"before,omitempty"`    // it was last written before the session began, so the session hardly changed it
	Known     KnownBefore `json:"known"`               // what it was compared with
	At        *event.Time `json:"at,omitempty"`        // of a copy: when that was shown
}

// Known says where it is known from what a file was.
type KnownBefore string

// What a file is compared with.
const (
	Commit  KnownBefore = "commit"  // what git has of it
	Edits   KnownBefore = "edits"   // the file with the agent's edits taken back
	Copy    KnownBefore = "copy"    // what was shown of it earlier
	Nothing KnownBefore = "nothing" // only that the agent edited it: what it was is not known
)

// texts are the two sides of a file, if both are known.
type texts struct {
	was, now []byte
	ok       bool
}

// written is how far the clock of a file system may be behind.
const written = 2 * time.Second

// List returns what the session changed. The error is that of ctx or of the log.
func (s ChangeSource) List(ctx context.Context) (*ChangeList, error) {
	l, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	for i := range l.Files {
		f := &l.Files[i]
		if !f.Before {
			l.Added, l.Removed = l.Added+f.Added, l.Removed+f.Removed
		}
		if s.Closed != nil && (s.Closed(f.Path) || f.From != "" && s.Closed(f.From)) {
			l.texts[i] = texts{}
		}
	}
	return l, nil
}

func (s ChangeSource) list(ctx context.Context) (*ChangeList, error) {
	began, start, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	if start == nil {
		return &ChangeList{Note: "Nothing happened in this session yet.", Files: []ChangedFile{}}, nil
	}
	why := noGit
	if start.GitRoot != "" {
		list, more, err := s.since(ctx, start)
		if err == nil {
			return fromGit(list, more, start.Commit, began), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if why = lostGit; !errors.Is(err, ErrNoCommit) {
			why = failedGit
		}
	}
	l, err := s.fromSession(ctx)
	if err == nil {
		l.Since, l.Note = new(event.Time(began)), why+" "+noCommands
	}
	return l, err
}

// The reasons why git does not tell, and what follows.
const (
	noGit      = "The folder was in no git repository when the session began: listed are the files that the agent edited with its tools, and those shown whole that differ now."
	lostGit    = "Git does not have the commit at which the session began: listed are the files that the agent edited with its tools, and those shown whole that differ now."
	failedGit  = "Git could not be asked: listed are the files that the agent edited with its tools, and those shown whole that differ now."
	noCommands = "What commands changed may be missing."
)

// since asks git. A repository whose branch cannot be told may have any commit.
func (s ChangeSource) since(ctx context.Context, start *event.Context) ([]Change, bool, error) {
	if s.Files == nil || start.Commit == "" && start.Branch == "" {
		return nil, false, ErrNoCommit
	}
	return s.Files.Since(ctx, start.Commit)
}

// fromGit is what git told.
func fromGit(list []Change, more bool, commit string, began time.Time) *ChangeList {
	l := &ChangeList{Commit: commit, Since: new(event.Time(began)), More: more, Files: []ChangedFile{}}
	l.Note = "The repository had no commit when the session began, so every file counts as new."
	if commit != "" {
		l.Note = fmt.Sprintf("Compared with commit %.7s, at which the session began. What was not committed then counts as well.", commit)
	}
	for i := range list {
		c := &list[i]
		before := !c.Written.IsZero() && c.Written.Add(written).Before(began)
		l.Files = append(l.Files, ChangedFile{Path: c.Path, From: c.From, Kind: c.Kind, Added: c.Added, Removed: c.Removed, Binary: c.Binary, Uncounted: c.Uncounted, Before: before, Known: Commit})
		was, now, ok := c.Texts()
		l.texts = append(l.texts, texts{was, now, ok})
	}
	return l
}

// start is when and where the session began; nil: it did not.
func (s ChangeSource) start(ctx context.Context) (at time.Time, in *event.Context, err error) {
	first, err := s.Log.Events(ctx, 0, 1)
	if err != nil || len(first) == 0 {
		return at, nil, err
	}
	if d, ok := first[0].Event.Data.(event.SessionStart); ok {
		return first[0].Event.Timestamp, &d.Context, nil
	}
	return at, nil, nil
}

// Was is what a file was when the session began.
type ContentBefore struct {
	Data  []byte
	Found bool // false: there was no such file
	Known bool // false: what it was is not known
}

// Was returns what a file was: path is its path then. [ErrTooLarge] for one over
// 16 MiB.
func (s ChangeSource) Was(ctx context.Context, path string) (ContentBefore, error) {
	_, start, err := s.start(ctx)
	if err != nil || start == nil {
		return ContentBefore{}, err
	}
	switch {
	case start.GitRoot == "" || s.Files == nil:
	case start.Commit == "" && start.Branch != "":
		return ContentBefore{Known: true}, nil
	default:
		data, found, err := s.Files.Was(ctx, start.Commit, path, most)
		if err == nil || errors.Is(err, ErrTooLarge) || ctx.Err() != nil {
			return ContentBefore{data, found, true}, errors.Join(err, ctx.Err())
		}
	}
	l, err := s.fromSession(ctx)
	if err != nil {
		return ContentBefore{}, err
	}
	for i, f := range l.Files {
		if f.Path == path {
			return ContentBefore{l.texts[i].was, f.Kind != Created, l.texts[i].ok}, nil
		}
	}
	return ContentBefore{}, nil
}

// sections cuts a diff of several files into those of one, by the lines that name both.
func sections(diff string) (out []section) {
	var b strings.Builder
	flush := func() {
		if n := len(out); n > 0 {
			out[n-1].diff = b.String()
		}
		b.Reset()
	}
	old := ""
	for l := range strings.Lines(diff) {
		switch name, isNew := strings.CutPrefix(l, "+++ "); {
		case strings.HasPrefix(l, "--- ") && old == "":
			old = l
			continue
		case isNew && old != "":
			flush()
			was := nameIn(strings.TrimPrefix(old, "--- "))
			out = append(out, section{was: was, now: nameIn(name)})
			b.WriteString(old + l)
			old = ""
			continue
		case old != "": // a removed line that begins with two dashes
			b.WriteString(old)
			old = ""
		}
		b.WriteString(l)
	}
	b.WriteString(old)
	flush()
	return out
}

// section is a part of a diff that is of one file.
type section struct{ was, now, diff string }

// nameIn is the file that a line of a diff names: what stands behind a tab is not part of
// it.
func nameIn(line string) string {
	name, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
	return name
}
