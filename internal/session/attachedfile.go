package session

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/kind"
	"webchat/internal/policy"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// Bounds of what goes with a prompt.
const (
	mostText    = 1 << 20   // bytes of a text, which is counted exactly
	mostPicture = 20 << 20  // bytes, as of an upload
	mostPassed  = 256 << 20 // bytes that are read to find lines
	mostEntries = 1000      // of a folder
)

// ErrSensitive says that a file may hold secrets, and that the user did not say that its
// content is to go all the same.
var ErrSensitive = errors.New("it may hold secrets")

// suspicion is an [ErrSensitive] that says what of the file hints at secrets.
type suspicion string

func (s suspicion) Error() string { return "it " + cmp.Or(string(s), "may hold secrets") }

func (suspicion) Is(target error) bool { return target == ErrSensitive }

// AttachmentKind says what something in the workspace is.
type AttachmentKind string

// What can be named. Of AttachedOther an agent gets the path: it is neither text nor a picture, or
// has more than goes with a prompt.
const (
	AttachedText    AttachmentKind = "text"
	AttachedPicture AttachmentKind = "picture"
	AttachedFolder  AttachmentKind = "folder"
	AttachedOther   AttachmentKind = "other"
)

// AttachedFile is something in the workspace that a prompt can name.
type AttachedFile struct {
	Path      string // relative to the workspace, with slashes; that of a folder ends in one
	Lines     string // "A-B", where lines of a file were asked for
	What      AttachmentKind
	Sensitive bool // it may hold secrets
	// of one whose content is why: what that looks like, in words that follow its name
	Looks string
	Why   string // of AttachedOther: a sentence

	data      []byte // what an agent gets
	large     bool   // it is a text or a picture, and too large
	mediaType string
	full      string // its absolute path
}

// Tokens is what it costs a model to get it; false if that is an estimate.
func (f *AttachedFile) Tokens() (n int, exact bool) {
	if f.What == AttachedPicture {
		w, h, err := kind.Size(f.data)
		if err != nil {
			return 0, false
		}
		return tokens.Picture(w, h), false
	}
	return tokens.Count(string(f.data))
}

// attachment is what an agent gets.
func (f *AttachedFile) attachment() agent.Attachment {
	if f.What == AttachedOther {
		return agent.Attachment{Name: filepath.Base(f.full), Path: f.full}
	}
	name := f.Path
	if f.Lines != "" {
		name += ":" + f.Lines
	}
	return agent.Attachment{Name: name, MimeType: f.mediaType, Data: f.data}
}

// FindAttachment looks for a file or folder inside of a workspace, links that leave it excepted,
// and reads what of it would go with a prompt: all, or the lines "A-B" or "A" of a text. What is
// judged is what was opened. The error wraps [eventlog.ErrNotFound] or [eventlog.ErrInvalid].
func FindAttachment(judge Judge, workspace, name, lines string) (*AttachedFile, error) {
	rel, err := inside(workspace, name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	file, info, err := policy.Open(root, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("file %s: %w", name, eventlog.ErrNotFound)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("%w: webchat is not allowed to read %s", eventlog.ErrInvalid, name)
	case errors.Is(err, policy.ErrSpecial):
		return nil, fmt.Errorf("%w: %s is not a regular file", eventlog.ErrInvalid, name)
	case err != nil: // os.Root has no error of its own for a link that leads outside
		return nil, fmt.Errorf("%w: %s is outside the workspace, or leads back to itself",
			eventlog.ErrInvalid, name)
	}
	defer file.Close()
	f := &AttachedFile{Path: filepath.ToSlash(rel), Lines: lines, full: filepath.Join(workspace, rel)}
	if judge == nil {
		judge = policy.New(policy.Config{Workspace: workspace})
	}
	ruling := judge.Named(file, f.full)
	switch {
	case ruling.Decision == event.Deny:
		return nil, fmt.Errorf("%w: %s", eventlog.ErrInvalid, strings.TrimSuffix(ruling.Reason, "."))
	case info.IsDir():
		return f, f.list(file, judge)
	}
	if f.Sensitive = ruling.Sensitive; ruling.Secret != nil {
		f.Looks = ruling.Secret.Looks
	}
	return f, f.read(file)
}

// NamedAttachment finds what a prompt names as a path or as one with lines, "main.go:10-40"; nil
// means nothing that can be named. With both, the error says why it would be refused.
func NamedAttachment(judge Judge, workspace, name string) (*AttachedFile, error) {
	path, lines := name, ""
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if _, _, err := wording.Range(name[i+1:]); err == nil {
			path, lines = name[:i], name[i+1:]
		}
	}
	f, err := FindAttachment(judge, workspace, path, lines)
	if err == nil {
		return f, nil
	}
	if f, missing := FindAttachment(judge, workspace, path, ""); lines != "" && missing == nil {
		f.Lines, f.data, f.What = lines, nil, AttachedOther
		return f, err
	}
	return nil, err
}

// inside is a name as a path relative to the workspace.
func inside(workspace, name string) (string, error) {
	rel := filepath.FromSlash(name)
	if filepath.IsAbs(rel) {
		rel, _ = filepath.Rel(workspace, rel) // empty: it is on another volume
	}
	if !filepath.IsLocal(rel) || strings.ContainsRune(rel, 0) {
		return "", fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
	}
	return filepath.Clean(rel), nil
}

// list takes the names in a folder, one a line, folders first and with a slash.
func (f *AttachedFile) list(dir *os.File, judge Judge) error {
	if f.Lines != "" {
		return fmt.Errorf("%w: %s is a folder, so it has no lines", eventlog.ErrInvalid, f.Path)
	}
	f.Path, f.What, f.mediaType = strings.TrimSuffix(f.Path, "/")+"/", AttachedFolder, "text/plain"
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return fmt.Errorf("%w: %s cannot be listed", eventlog.ErrInvalid, f.Path)
	}
	real := policy.Resolve(f.full)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return judge.Hidden(filepath.Join(real, e.Name()))
	})
	order := func(e fs.DirEntry) string { // folders first
		if e.IsDir() {
			return "0" + e.Name()
		}
		return "1" + e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(order(a), order(b)) })
	var b bytes.Buffer
	for _, e := range entries[:min(len(entries), mostEntries)] {
		b.WriteString(strconv.QuoteToGraphic(e.Name())[1:])
		b.Truncate(b.Len() - 1) // the quotes
		if e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	if more := len(entries) - mostEntries; more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	f.data = b.Bytes()
	return nil
}

// read takes the content of a file, or some of its lines.
func (f *AttachedFile) read(file *os.File) error {
	r := bufio.NewReaderSize(io.LimitReader(file, mostPassed), 64<<10)
	head, err := r.Peek(16 << 10)
	if err != nil && err != io.EOF {
		return f.unreadable()
	}
	err = nil
	switch picture := kind.Picture(head); {
	case picture != "" && picture != kind.SVG:
		f.What, f.mediaType = AttachedPicture, picture
	case kind.Binary(head):
		f.What, f.Why = AttachedOther, f.Path+" is neither text nor a picture."
	default:
		f.What, f.mediaType = AttachedText, "text/plain"
	}
	switch {
	case f.Lines != "" && f.What != AttachedText:
		return fmt.Errorf("%w: %s is not text, so it has no lines", eventlog.ErrInvalid, f.Path)
	case f.Lines != "":
		err = f.readLines(r)
	case f.What == AttachedText:
		err = f.readAll(r, mostText)
	case f.What == AttachedPicture:
		err = f.readAll(r, mostPicture)
	}
	if f.What == AttachedText {
		f.data = bytes.ToValidUTF8(f.data, []byte("\uFFFD"))
	}
	return err
}

func (f *AttachedFile) unreadable() error {
	return fmt.Errorf("%w: %s cannot be read", eventlog.ErrInvalid, f.Path)
}

// readAll takes the whole file, if it is not too large.
func (f *AttachedFile) readAll(r io.Reader, most int64) (err error) {
	if f.data, err = io.ReadAll(io.LimitReader(r, most+1)); err != nil {
		return f.unreadable()
	}
	if int64(len(f.data)) > most {
		f.tooMuch("Name some of its lines, as in " + f.Path + ":1-200")
	}
	return nil
}

// tooMuch says that it is more than goes with a prompt, and what to do.
func (f *AttachedFile) tooMuch(do string) {
	f.Why = f.Path + " has more than 1 MiB. " + do + "."
	f.What, f.data, f.large = AttachedOther, nil, true
}

// readLines takes the lines that were asked for.
func (f *AttachedFile) readLines(r *bufio.Reader) error {
	from, to, err := wording.Range(f.Lines)
	if err != nil {
		return fmt.Errorf("%w: lines %q are not of the form A-B", eventlog.ErrInvalid, f.Lines)
	}
	if f.Lines = strconv.Itoa(from); to > from {
		f.Lines += "-" + strconv.Itoa(to)
	}
	last := 0 // the last line that has something
	for line := 1; line <= to; {
		part, err := r.ReadSlice('\n')
		if len(part) > 0 {
			last = line
		}
		if line >= from {
			f.data = append(f.data, part...)
		}
		switch {
		case len(f.data) > mostText:
			f.tooMuch("Name fewer lines")
			return nil
		case err == nil:
			line++
		case err == io.EOF && last == 0:
			return fmt.Errorf("%w: %s is empty, so it has no lines", eventlog.ErrInvalid, f.Path)
		case err == io.EOF && last < to:
			return fmt.Errorf("%w: %s has no lines %s; its last line is %d", eventlog.ErrInvalid, f.Path,
				f.Lines, last)
		case err == io.EOF:
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return f.unreadable()
		}
	}
	return nil
}
