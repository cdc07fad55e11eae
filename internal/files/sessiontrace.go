package files

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/wording"
)

// step is how many events are read at once.
const step = 2000

// trace is what a session has of one file.
type trace struct {
	diffs  []string // the agent's edits, the first one first
	made   bool     // the first edit made the file
	copied outputs.ID
	at     time.Time // when that was shown
}

// fromSession lists the files of which the session has something that differs now.
func (s ChangeSource) fromSession(ctx context.Context) (*ChangeList, error) {
	found, err := s.traces(ctx)
	if err != nil {
		return nil, err
	}
	l := &ChangeList{Files: []ChangedFile{}}
	root, err := os.OpenRoot(s.Workspace)
	if err != nil { // the folder is away: nothing of it can be compared
		return l, nil
	}
	defer root.Close()
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if f, sides, ok := s.compare(root, path, found[path]); ok {
			l.Files, l.texts = append(l.Files, f), append(l.texts, sides)
		}
	}
	return l, ctx.Err()
}

// compare says how a file differs from what the session has of it; false: it does not.
func (s ChangeSource) compare(root *os.Root, path string, t *trace) (f ChangedFile, sides texts, differs bool) {
	f = ChangedFile{Path: path, Kind: Modified}
	now, err := readSmall(root, path)
	gone := errors.Is(err, fs.ErrNotExist)
	was, made := []byte(nil), false
	switch back, ok := undo(now, t.diffs); {
	case err != nil && !gone:
		f.Uncounted, f.Known = true, Nothing
		return f, sides, len(t.diffs) > 0
	case ok && !gone:
		was, made, f.Known = back, t.made, Edits
	case t.copied != "":
		data, ok := s.copied(t.copied)
		if !ok {
			return f, sides, false
		}
		was, f.Known, f.At = data, Copy, new(event.Time(t.at))
	default:
		f.Known, f.Uncounted = Nothing, true
		for _, d := range t.diffs {
			added, removed, _ := wording.Hunks(d)
			f.Added, f.Removed, f.Uncounted = f.Added+added, f.Removed+removed, false
		}
		if f.Kind = Modified; gone {
			f.Kind, f.Added, f.Removed, f.Uncounted = Deleted, 0, 0, true
		}
		return f, sides, len(t.diffs) > 0 && !(gone && t.made) // what was made and is gone is no change
	}
	switch {
	case gone:
		f.Kind = Deleted
	case made:
		f.Kind = Created
	}
	f.Added, f.Removed = wording.Changed(was, now)
	return f, texts{was, now, true}, f.Kind != Modified || !bytes.Equal(was, now)
}

// undo takes edits back, the last one first.
func undo(now []byte, diffs []string) (was []byte, ok bool) {
	was = now
	for _, d := range slices.Backward(diffs) {
		if was, ok = wording.Revert(was, d); !ok {
			return nil, false
		}
	}
	return was, len(diffs) > 0
}

// readSmall reads a regular file that is not large.
func readSmall(root *os.Root, path string) ([]byte, error) {
	name := filepath.FromSlash(path)
	st, err := root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > most:
		return nil, ErrTooLarge
	}
	return root.ReadFile(name)
}

// copied reads an output, if it is still there.
func (s ChangeSource) copied(id outputs.ID) ([]byte, bool) {
	o, err := s.Outputs.Get(id)
	if err != nil || !whole(o) {
		return nil, false
	}
	b, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size()))
	return b, err == nil
}

// whole reports whether an output is all of a text file.
func whole(o *outputs.Output) bool {
	m := o.Meta()
	return m.Type == outputs.File && m.MimeType != outputs.FolderType && m.First() == 1 && m.EndLine == m.TotalLines &&
		!m.Binary && !m.Truncated && m.Gap == nil && o.Complete() && o.Size() <= most
}

// traces reads the log for what it has of files.
func (s ChangeSource) traces(ctx context.Context) (map[string]*trace, error) {
	r := &reader{ChangeSource: s, found: map[string]*trace{}, begun: map[string]json.RawMessage{}, asked: map[string]string{}}
	for after := int64(0); ; {
		entries, err := s.Log.Events(ctx, after, step)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			r.take(e.Event)
			after = e.Seq
		}
		if len(entries) < step {
			return r.found, nil
		}
	}
}

// reader folds a log into what it has of files.
type reader struct {
	ChangeSource
	found map[string]*trace
	begun map[string]json.RawMessage // arguments of calls of the agent that have not ended
	asked map[string]string          // diffs that the user was asked about, by call
}

func (r *reader) take(e event.Event) {
	switch d := e.Data.(type) {
	case event.ToolExecutionStart:
		if d.By != event.ByUser {
			r.begun[d.ToolCallID] = d.Arguments
		}
	case event.PermissionRequested:
		if d.Diff != "" && d.ToolCallID != "" {
			r.asked[d.ToolCallID] = d.Diff
		}
	case event.ToolExecutionComplete:
		args, byAgent := r.begun[d.ToolCallID]
		asked := r.asked[d.ToolCallID]
		delete(r.begun, d.ToolCallID)
		delete(r.asked, d.ToolCallID)
		if d.OutputID != "" {
			r.shown(outputs.ID(d.OutputID), e.Timestamp)
		} else if byAgent && d.Success && d.Result != nil {
			r.edited(args, cmp.Or(d.Result.DetailedContent, asked))
		}
	}
}

// shown takes the first whole showing of a file.
func (r *reader) shown(id outputs.ID, at time.Time) {
	o, err := r.Outputs.Get(id)
	if err != nil || !whole(o) {
		return
	}
	path, ok := r.inside(o.Meta().Path)
	if !ok {
		return
	}
	if t := r.of(path); t.copied == "" {
		t.copied, t.at = id, at
	}
}

// edited takes what an edit changed, by its diff. What a command printed is not an edit.
func (r *reader) edited(raw json.RawMessage, diff string) {
	var args struct {
		Command, Cmd         any
		Path, File, Filename string
		FilePath             string `json:"file_path"`
		FilePath2            string `json:"filePath"`
	}
	_ = json.Unmarshal(raw, &args) // what has another shape names no file
	if args.Command != nil || args.Cmd != nil {
		return
	}
	list := sections(diff)
	if named := cmp.Or(args.Path, args.FilePath, args.FilePath2, args.File, args.Filename); named != "" {
		if len(list) == 0 && strings.Contains(diff, "@@ -") {
			list = []section{{diff: diff}}
		}
		if path, ok := r.inside(named); ok && len(list) == 1 {
			r.edit(path, list[0])
			return
		}
	}
	for _, one := range list {
		if path, ok := r.named(cmp.Or(strings.TrimPrefix(one.now, "/dev/null"), one.was)); ok {
			r.edit(path, one)
		}
	}
}

func (r *reader) edit(path string, one section) {
	t := r.of(path)
	if len(t.diffs) == 0 {
		_, rest, _ := strings.Cut("\n"+one.diff, "\n@@ -")
		t.made = one.was == "/dev/null" || strings.HasPrefix(rest, "0,0 ")
	}
	t.diffs = append(t.diffs, one.diff)
}

func (r *reader) of(path string) *trace {
	t := r.found[path]
	if t == nil {
		t = &trace{}
		r.found[path] = t
	}
	return t
}

// named is a file that a diff names: git puts a/ and b/ before names, of which absolute
// ones lose their first slash then.
func (r *reader) named(name string) (string, bool) {
	for _, prefix := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if path, ok := r.inside("/" + rest); ok {
				return path, true
			}
			return r.inside(rest)
		}
	}
	return r.inside(name)
}

// inside is a name as a path of the workspace; false: it is outside.
func (r *reader) inside(name string) (string, bool) {
	rel := filepath.FromSlash(name)
	if filepath.IsAbs(rel) {
		in, err := filepath.Rel(r.Workspace, rel)
		if err != nil {
			return "", false
		}
		rel = in
	}
	rel = filepath.Clean(rel)
	return filepath.ToSlash(rel), name != "" && rel != "." && filepath.IsLocal(rel) && !strings.ContainsRune(rel, 0)
}
