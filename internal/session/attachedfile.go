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
	"strconv"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/kind"
	"webchat/internal/policy"
	"webchat/internal/tokens"
	"webchat/internal/wording"
	"webchat/internal/workspace"
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
func FindAttachment(judge Judge, dir, name, lines string) (*AttachedFile, error) {
	folder, err := workspace.New(dir, "")
	if err != nil {
		return nil, err
	}
	f := &AttachedFile{Lines: lines}
	rel, err := folder.Resolve(filepath.FromSlash(name))
	var file *os.File
	var info fs.FileInfo
	if err == nil {
		file, info, err = folder.Open(rel)
	}
	if err != nil {
		return nil, notAttached(name, err)
	}
	defer file.Close()
	if f.full = filepath.Clean(filepath.FromSlash(name)); !filepath.IsAbs(f.full) {
		f.full = filepath.Join(folder.Path, f.full)
	}
	if f.Path, err = filepath.Rel(folder.Path, f.full); err != nil || !filepath.IsLocal(f.Path) {
		f.Path = rel // it was reached by another name of the folder
	}
	f.Path = filepath.ToSlash(f.Path)
	if judge == nil {
		judge = policy.New(policy.Config{Workspace: folder.Path})
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

// notAttached says why what has that name does not go with a prompt.
func notAttached(name string, err error) error {
	var e *workspace.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Reason {
	case workspace.Missing, workspace.Dangling:
		return fmt.Errorf("file %s: %w", name, eventlog.ErrNotFound)
	case workspace.Forbidden:
		return fmt.Errorf("%w: webchat is not allowed to read %s", eventlog.ErrInvalid, name)
	case workspace.Special:
		return fmt.Errorf("%w: %s is not a regular file", eventlog.ErrInvalid, name)
	case workspace.Outside:
		return fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
	case workspace.Climbs:
		return fmt.Errorf("%w: %s has .. in it; give the plain path", eventlog.ErrInvalid, name)
	case workspace.Circular:
		return fmt.Errorf("%w: %s is a link that leads back to itself", eventlog.ErrInvalid, name)
	case workspace.Replaced:
		return fmt.Errorf("%w: %s was replaced while it was opened; name it again", eventlog.ErrInvalid,
			name)
	case workspace.Failed:
		return fmt.Errorf("%w: %s cannot be opened", eventlog.ErrInvalid, name)
	}
	return fmt.Errorf("open the workspace: %w", err)
}

// NamedAttachment finds what a prompt names as a path or as one with lines, "main.go:10-40"; nil
// means nothing that can be named. With both, the error says why it would be refused.
func NamedAttachment(judge Judge, dir, name string) (*AttachedFile, error) {
	path, lines := name, ""
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if _, _, err := wording.Range(name[i+1:]); err == nil {
			path, lines = name[:i], name[i+1:]
		}
	}
	f, err := FindAttachment(judge, dir, path, lines)
	if err == nil {
		return f, nil
	}
	if f, missing := FindAttachment(judge, dir, path, ""); lines != "" && missing == nil {
		f.Lines, f.data, f.What = lines, nil, AttachedOther
		return f, err
	}
	return nil, err
}

// list takes the names in a folder, one a line, folders first and with a slash.
func (f *AttachedFile) list(dir *os.File, judge Judge) error {
	if f.Lines != "" {
		return fmt.Errorf("%w: %s is a folder, so it has no lines", eventlog.ErrInvalid, f.Path)
	}
	f.Path, f.What, f.mediaType = strings.TrimSuffix(f.Path, "/")+"/", AttachedFolder, "text/plain"
	real := policy.Resolve(f.full)
	entries, whole, err := workspace.Entries(dir, func(name string) bool {
		return judge.Hidden(filepath.Join(real, name))
	})
	if err != nil {
		return fmt.Errorf("%w: %s cannot be listed", eventlog.ErrInvalid, f.Path)
	}
	text := workspace.Listing(entries[:min(len(entries), mostEntries)])
	switch more := len(entries) - mostEntries; {
	case !whole:
		text += "… and more\n"
	case more > 0:
		text += fmt.Sprintf("… and %d more\n", more)
	}
	f.data = []byte(text)
	return nil
}

// read takes the content of a file, or some of its lines.
func (f *AttachedFile) read(file *os.File) error {
	r := bufio.NewReaderSize(io.LimitReader(file, mostPassed), 64<<10)
	head, err := r.Peek(16 << 10)
	if err != nil && err != io.EOF {
		return f.unreadable()
	}
	charset := kind.Charset(head)
	switch picture := kind.Picture(head); {
	case picture != "" && picture != kind.SVG:
		f.What, f.mediaType = AttachedPicture, picture
	case kind.Binary(head) && !kind.IsWide(charset):
		f.What, f.Why = AttachedOther, f.Path+" is neither text nor a picture."
	default:
		f.What, f.mediaType = AttachedText, "text/plain"
	}
	text := kind.Decoded(charset, r)
	switch {
	case f.Lines != "" && f.What != AttachedText:
		return fmt.Errorf("%w: %s is not text, so it has no lines", eventlog.ErrInvalid, f.Path)
	case f.Lines != "":
		err = f.readLines(bufio.NewReaderSize(text, 64<<10))
	case f.What == AttachedText:
		err = f.readAll(text, mostText)
	case f.What == AttachedPicture:
		err = f.readAll(r, mostPicture)
	default:
		err = nil
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
