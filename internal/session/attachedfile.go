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

// What says what something in the workspace is.
type AttachmentKind string

// What can be named.
const (
	AttachedText    AttachmentKind = "text"
	AttachedPicture AttachmentKind = "picture"
	AttachedFolder  AttachmentKind = "folder"
	AttachedOther   AttachmentKind = "other" // an agent gets its path: it is neither text nor a picture, or has more than goes with a prompt
)

// Found is something in the workspace that a prompt can name.
type AttachedFile struct {
	Path      string // relative to the workspace, with slashes; that of a folder ends in one
	Lines     string // "A-B", where lines of a file were asked for
	What      AttachmentKind
	Size      int64  // bytes of the file; of a folder, of its listing
	Sensitive bool   // it may hold secrets
	Why       string // of Other: a sentence

	data      []byte // what an agent gets
	large     bool   // it is a text or a picture, and too large
	mediaType string
	full      string // its absolute path
}

// Tokens is what it costs a model to get it; false: that is an estimate.
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

// file is what an agent gets of a file or folder.
func (r AttachmentResolver) file(n event.Attachment) (agent.Attachment, error) {
	f, err := FindAttachment(r.Judge, r.Workspace, n.Path, n.Lines)
	switch {
	case err != nil:
		return agent.Attachment{}, err
	case n.Mention:
		return f.mention(), nil
	case f.Sensitive && !n.Sensitive:
		return agent.Attachment{}, fmt.Errorf("%w: %s: %w; send only its name (mention), or say that it is to go (sensitive)", eventlog.ErrInvalid, n.Path, ErrSensitive)
	case f.large:
		return agent.Attachment{}, fmt.Errorf("%w: %s; send only its name (mention)", eventlog.ErrInvalid, strings.TrimSuffix(f.Why, "."))
	case f.What == AttachedOther:
		return agent.Attachment{Name: filepath.Base(f.full), Path: f.full}, nil
	}
	name := f.Path
	if f.Lines != "" {
		name += ":" + f.Lines
	}
	return agent.Attachment{Name: name, MimeType: f.mediaType, Data: f.data}, nil
}

// mention names it, and gives nothing of its content.
func (f *AttachedFile) mention() agent.Attachment {
	text := "The user points to " + f.Path
	if f.Lines != "" {
		text += ", lines " + f.Lines
	}
	return agent.Attachment{Name: f.Path, MimeType: "text/plain", Data: []byte(text + ". You were not given its content.")}
}

// Find looks for a file or folder inside of a workspace, links that leave it excepted,
// and reads what of it would go with a prompt: all, or the lines "A-B" or "A" of a text.
// What is judged is what was opened. The error wraps [eventlog.ErrNotFound] or
// [eventlog.ErrInvalid].
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
		return nil, fmt.Errorf("%w: %s is outside the workspace, or leads back to itself", eventlog.ErrInvalid, name)
	}
	defer file.Close()
	f := &AttachedFile{Path: filepath.ToSlash(rel), Lines: lines, Size: info.Size(), full: filepath.Join(workspace, rel)}
	if judge == nil {
		judge = policy.New(policy.Config{Workspace: workspace})
	}
	ruling := judge.File(info, f.full)
	switch {
	case ruling.Decision == event.Deny:
		return nil, fmt.Errorf("%w: %s", eventlog.ErrInvalid, strings.TrimSuffix(ruling.Reason, "."))
	case info.IsDir():
		return f, f.list(file, judge)
	}
	f.Sensitive = ruling.Sensitive
	return f, f.read(file)
}

// Named finds what a prompt names as a path or as one with lines, "main.go:10-40"; nil:
// nothing that can be named. With both, the error says why it would be refused.
func NamedAttachment(judge Judge, workspace, name string) (*AttachedFile, error) {
	path, lines := name, ""
	if i := strings.LastIndexByte(name, ':'); i > 0 {
		if _, _, err := span(name[i+1:]); err == nil {
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
		in, err := filepath.Rel(workspace, rel)
		if err != nil {
			return "", fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
		}
		rel = in
	}
	rel = filepath.Clean(rel)
	if name == "" || !filepath.IsLocal(rel) || strings.ContainsRune(rel, 0) {
		return "", fmt.Errorf("%w: %s is outside the workspace", eventlog.ErrInvalid, name)
	}
	return rel, nil
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
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return judge.Hidden(filepath.Join(real, e.Name())) })
	folder := func(e fs.DirEntry) int {
		if e.IsDir() {
			return 0
		}
		return 1
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Or(folder(a)-folder(b), strings.Compare(a.Name(), b.Name()))
	})
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
	f.data, f.Size = b.Bytes(), int64(b.Len())
	return nil
}

// read takes the content of a file, or some of its lines.
func (f *AttachedFile) read(file *os.File) error {
	r := bufio.NewReaderSize(io.LimitReader(file, mostPassed), 64<<10)
	head, err := r.Peek(16 << 10)
	if err != nil && err != io.EOF {
		return fmt.Errorf("%w: %s cannot be read", eventlog.ErrInvalid, f.Path)
	}
	picture := kind.Picture(head)
	switch {
	case picture != "" && picture != kind.SVG:
		f.What, f.mediaType = AttachedPicture, picture
		return f.all(r, mostPicture)
	case kind.Binary(head):
		f.What, f.Why = AttachedOther, f.Path+" is neither text nor a picture."
	default:
		f.What, f.mediaType = AttachedText, "text/plain"
		if f.Lines != "" {
			return f.some(r)
		}
		return f.all(r, mostText)
	}
	if f.Lines != "" {
		return fmt.Errorf("%w: %s is not text, so it has no lines", eventlog.ErrInvalid, f.Path)
	}
	return nil
}

// all takes the whole file, if it is not too large.
func (f *AttachedFile) all(r io.Reader, most int64) (err error) {
	if f.Lines != "" {
		return fmt.Errorf("%w: %s is a picture, so it has no lines", eventlog.ErrInvalid, f.Path)
	}
	if f.data, err = io.ReadAll(io.LimitReader(r, most+1)); err != nil {
		return fmt.Errorf("%w: %s cannot be read", eventlog.ErrInvalid, f.Path)
	}
	if int64(len(f.data)) > most {
		f.tooMuch("Name some of its lines, as in " + f.Path + ":1-200")
	} else if f.What == AttachedText {
		f.data = bytes.ToValidUTF8(f.data, []byte("\uFFFD"))
	}
	return nil
}

// tooMuch says that it is more than goes with a prompt, and what to do.
func (f *AttachedFile) tooMuch(do string) {
	f.Why = f.Path + " has more than 1 MB. " + do + "."
	f.What, f.data, f.large = AttachedOther, nil, true
}

// some takes the lines that were asked for.
func (f *AttachedFile) some(r *bufio.Reader) error {
	from, to, err := span(f.Lines)
	if err != nil {
		return err
	}
	f.Lines = strconv.Itoa(from)
	if to > from {
		f.Lines += "-" + strconv.Itoa(to)
	}
	line, open := 1, false // open: the line has something
	for line <= to {
		part, err := r.ReadSlice('\n')
		if line >= from {
			if f.data = append(f.data, part...); len(f.data) > mostText {
				f.tooMuch("Name fewer lines")
				return nil
			}
		}
		open = open || len(part) > 0
		switch {
		case err == nil:
			line, open = line+1, false
		case err == io.EOF:
			if !open {
				line--
			}
			if line < to {
				return f.beyond(line)
			}
			f.data = bytes.ToValidUTF8(f.data, []byte("\uFFFD"))
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%w: %s cannot be read", eventlog.ErrInvalid, f.Path)
		}
	}
	f.data = bytes.ToValidUTF8(f.data, []byte("\uFFFD"))
	return nil
}

func (f *AttachedFile) beyond(last int) error {
	if last == 0 {
		return fmt.Errorf("%w: %s is empty, so it has no lines", eventlog.ErrInvalid, f.Path)
	}
	return fmt.Errorf("%w: %s has no lines %s; its last line is %d", eventlog.ErrInvalid, f.Path, f.Lines, last)
}

// span reads "A-B" or "A".
func span(lines string) (from, to int, err error) {
	a, b, ranged := strings.Cut(lines, "-")
	if !ranged {
		b = a
	}
	from, errA := strconv.Atoi(a)
	to, errB := strconv.Atoi(b)
	if errA != nil || errB != nil || from < 1 || to < from {
		return 0, 0, fmt.Errorf("%w: lines %q are not of the form A-B", eventlog.ErrInvalid, lines)
	}
	return from, to, nil
}
