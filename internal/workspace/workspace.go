// Package workspace reads one folder: it follows a name to where it leads, opens exactly the file
// that was found there, and lists names. Tools, prompts and the embedded agent read by it.
//
// # Guarantees
//
//   - Reading goes through an [os.Root] of the folder, which cannot leave it, whatever is renamed
//     meanwhile. Links are followed first, so what is judged by its name is what is read.
//   - Only regular files and folders are opened; a named pipe blocks nothing.
//   - An error is an [*Error], a fact; its reader writes the sentence.
//
// A Folder holds nothing open between calls, and may be used by any number of goroutines.
//
//	folder, err := workspace.New("/home/ann/app", "/home/ann")
//	rel, err := folder.Resolve("docs/README.md")
//	f, info, err := folder.Open(rel)
package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"webchat/internal/policy"
)

// Folder is a folder that files are read from.
type Folder struct {
	Path string // absolute, without symbolic links
	Home string // what ~ means; empty: it means nothing
}

// New returns a folder by its absolute path. It need not be there yet.
func New(path, home string) (*Folder, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // it may come back
		real = filepath.Clean(path)
	}
	return &Folder{Path: real, Home: home}, nil
}

// Root opens the folder as it is now; the caller closes it. No handle is kept between calls, so
// that the folder can be unmounted or removed.
func (f *Folder) Root() (*os.Root, error) {
	switch real, err := filepath.EvalSymlinks(f.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{Reason: FolderMissing, Name: f.Path, Err: err}
	case err == nil && real != f.Path:
		return nil, &Error{Reason: FolderReplaced, Name: f.Path}
	}
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, refusal(f.Path, err)
	}
	return root, nil
}

// Present returns an error if the folder cannot be used now.
func (f *Folder) Present() error {
	root, err := f.Root()
	if err != nil {
		return err
	}
	return root.Close()
}

// Resolve returns where path leads, relative to the folder, with no symbolic link left in it.
func (f *Folder) Resolve(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && f.Home != "" {
		path = filepath.Join(f.Home, rest)
	}
	for _, part := range strings.FieldsFunc(path, isSeparator) {
		if part == ".." && filepath.IsLocal(filepath.Clean(path)) {
			return "", &Error{Reason: Climbs, Name: path}
		} else if part == ".." {
			return "", &Error{Reason: Outside, Name: path}
		}
	}
	full := filepath.Clean(path)
	if !filepath.IsAbs(full) {
		if !filepath.IsLocal(full) {
			return "", &Error{Reason: Outside, Name: path}
		}
		full = filepath.Join(f.Path, full)
	}
	real, err := filepath.EvalSymlinks(full)
	if err == nil {
		return f.inside(real)
	}
	// Where it leads is judged before what is there, so that nothing is revealed of
	// what is outside, not even that it is missing.
	target, outside := f.inside(policy.Resolve(full))
	if outside != nil {
		return "", outside
	}
	if st, e := os.Lstat(full); e == nil && st.Mode()&fs.ModeSymlink != 0 &&
		errors.Is(err, fs.ErrNotExist) {
		return "", &Error{Reason: Dangling, Name: full, Target: target, Err: err}
	}
	return "", refusal(full, err)
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// inside returns full relative to the folder.
func (f *Folder) inside(full string) (string, error) {
	rel, err := filepath.Rel(f.Path, full)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &Error{Reason: Outside, Name: full}
	}
	return rel, nil
}

// Open opens a regular file or a folder by what Resolve returned. What is read is
// this very file, also when names change meanwhile.
func (f *Folder) Open(rel string) (*os.File, fs.FileInfo, error) {
	root, err := f.Root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	file, st, err := policy.Open(root, rel)
	switch {
	case errors.Is(err, policy.ErrSpecial):
		return nil, nil, &Error{Reason: Special, Name: rel, Mode: st.Mode(), Err: err}
	case err != nil:
		return nil, nil, refusal(rel, err)
	case !f.still(root, rel, st):
		file.Close()
		return nil, nil, &Error{Reason: Replaced, Name: rel}
	}
	return file, st, nil
}

// Stat describes what is at a path that Resolve returned.
func (f *Folder) Stat(rel string) (fs.FileInfo, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	st, err := root.Stat(rel)
	if err != nil {
		return nil, refusal(rel, err)
	}
	return st, nil
}

// still reports that rel names the opened file itself and no link to it: what was
// checked by its name is what is read.
func (f *Folder) still(root *os.Root, rel string, opened fs.FileInfo) bool {
	full := filepath.Join(f.Path, rel)
	real, err := filepath.EvalSymlinks(full)
	if err != nil || real != full {
		return false
	}
	now, err := root.Lstat(rel)
	return err == nil && os.SameFile(now, opened)
}

// Reason says why something cannot be opened.
type Reason int

// What keeps something from being opened.
const (
	Missing        Reason = iota + 1 // nothing has that name
	Outside                          // the path leads out of the folder
	Climbs                           // the path has ".." in it, and stays in the folder
	Dangling                         // a link to what does not exist
	Circular                         // a link that leads back to itself
	Forbidden                        // this process is not allowed to read it
	Special                          // neither a regular file nor a folder
	Replaced                         // another file took its place while it was opened
	FolderMissing                    // the folder itself does not exist
	FolderReplaced                   // a link to another folder took the place of the folder
	Failed                           // the system's own error
)

// Error says what cannot be opened, and why.
type Error struct {
	Reason Reason
	Name   string      // of what: as it was asked for, or where that leads
	Target string      // of Dangling: where the link leads, relative to the folder
	Mode   fs.FileMode // of Special
	Err    error       // the system's, without the path; nil: it had none
}

func (e *Error) Error() string {
	return fmt.Sprintf("open %s: %v", e.Name, errors.Join(e.Reason, e.Err))
}

func (e *Error) Unwrap() []error { return []error{e.Reason, e.Err} }

// Error makes a Reason what [errors.Is] looks for.
func (r Reason) Error() string {
	return [...]string{"", "nothing has that name", "outside of the folder", "it has .. in it",
		"a link to what does not exist", "a link that leads back to itself", "permission denied",
		"neither a regular file nor a folder", "another file took its place",
		"the folder does not exist", "a link took the place of the folder", "failed"}[r]
}

// refusal explains why a file of the folder cannot be opened.
func refusal(name string, err error) *Error {
	e := &Error{Reason: Failed, Name: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ENAMETOOLONG):
		e.Reason = Missing
	case errors.Is(err, fs.ErrPermission):
		e.Reason = Forbidden
	case errors.Is(err, syscall.ELOOP), strings.HasSuffix(err.Error(), ": too many links"):
		// as filepath has it
		e.Reason = Circular
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		e.Err = pe.Err
	}
	return e
}
