package displaytools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/wording"
)

// workspace is the folder files are shown from. Reading goes through an [os.Root] of
// it, which cannot leave it, whatever is renamed meanwhile.
type workspace struct {
	real   string // absolute, without symbolic links
	home   string
	policy *policy.Policy
}

func openWorkspace(path, home string, p *policy.Policy) (*workspace, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // it may come back
		real = filepath.Clean(path)
	}
	if p == nil {
		p = policy.New(policy.Config{Workspace: real, Home: home})
	}
	return &workspace{real: real, home: home, policy: p}, nil
}

// root opens the folder as it is now; the caller closes it. No handle is kept between calls, so
// that the folder can be unmounted or removed.
func (w *workspace) root() (*os.Root, error) {
	switch real, err := filepath.EvalSymlinks(w.real); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, agent.Errorf(event.KindNotFound,
			"The folder %s is not there. Mount or restore it, then ask again.", w.shown())
	case err == nil && real != w.real:
		return nil, agent.Errorf(event.KindOutside,
			"The folder %s was replaced by a link to another one. Open that folder in webchat instead.",
			w.shown())
	}
	root, err := os.OpenRoot(w.real)
	if err != nil {
		return nil, refusal("The folder "+w.shown(), err)
	}
	return root, nil
}

// present returns an error if the folder cannot be used now.
func (w *workspace) present() error {
	root, err := w.root()
	if err != nil {
		return err
	}
	return root.Close()
}

// shown is the workspace as messages name it.
func (w *workspace) shown() string { return wording.Tilde(w.real, w.home) }

// home is the user's folder by the environment env.
func home(env []string) string {
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if v := getenv(env, key); filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
	}
	return ""
}

// Errors that the caller turns into an [agent.Fault].
var (
	errMissing = errors.New("no such file")
	errOutside = errors.New("outside of the workspace")
)

// resolve returns where path leads, relative to the workspace, with no symbolic
// link left in it.
func (w *workspace) resolve(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && w.home != "" {
		path = filepath.Join(w.home, rest)
	}
	for _, part := range strings.FieldsFunc(path, isSeparator) {
		if part == ".." && filepath.IsLocal(filepath.Clean(path)) {
			return "", agent.Errorf(event.KindOutside,
				`A path with ".." in it is not followed. Give the plain path from %s.`, w.shown())
		} else if part == ".." {
			return "", errOutside
		}
	}
	full := filepath.Clean(path)
	if !filepath.IsAbs(full) {
		if !filepath.IsLocal(full) {
			return "", errOutside
		}
		full = filepath.Join(w.real, full)
	}
	real, err := filepath.EvalSymlinks(full)
	if err == nil {
		return w.inside(real)
	}
	// Where it leads is judged before what is there, so that nothing is revealed of
	// what is outside, not even that it is missing.
	target, inside := w.inside(policy.Resolve(full))
	if inside != nil {
		return "", inside
	}
	if st, e := os.Lstat(full); e == nil && st.Mode()&fs.ModeSymlink != 0 &&
		errors.Is(err, fs.ErrNotExist) {
		return "", agent.Errorf(event.KindNotFound,
			"%s is a link to %s, which does not exist. Create that file or mend the link.", called(full),
			printable(target))
	}
	return "", refusal(called(full), err)
}

// refusal explains why a file of the workspace cannot be opened.
func refusal(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return errMissing
	case errors.Is(err, fs.ErrPermission):
		return agent.Errorf(event.KindDenied,
			"webchat is not allowed to read %s. Change its permissions, or those of the folder it is in.",
			name)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return errMissing
	case errors.Is(err, syscall.ELOOP), strings.HasSuffix(err.Error(), ": too many links"):
		// as filepath has it
		return agent.Errorf(event.KindNotRegular,
			"%s is a link that leads back to itself. Mend the link.", name)
	default:
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err // without the path, which the reader knows
		}
		return agent.Errorf(event.KindInternal, "%s cannot be opened: %v.", name, err)
	}
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }

// inside returns full relative to the workspace.
func (w *workspace) inside(full string) (string, error) {
	rel, ok := w.relative(w.real, full)
	if !ok {
		return "", errOutside
	}
	return rel, nil
}

func (w *workspace) relative(base, full string) (string, bool) {
	rel, err := filepath.Rel(base, full)
	return rel, err == nil && filepath.IsLocal(rel)
}

// open opens a regular file or a folder by what resolve returned. What is read is
// this very file, also when names change meanwhile.
func (w *workspace) open(rel string) (*os.File, fs.FileInfo, error) {
	name := called(rel)
	root, err := w.root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	f, st, err := policy.Open(root, rel)
	switch {
	case errors.Is(err, policy.ErrSpecial):
		return nil, nil, special(name, st)
	case err != nil:
		return nil, nil, refusal(name, err)
	case !w.still(root, rel, st):
		f.Close()
		return nil, nil, agent.Errorf(event.KindNotFound,
			"%s was replaced while it was opened. Ask for it again.", name)
	}
	return f, st, nil
}

// still reports that rel names the opened file itself and no link to it: what was
// checked by its name is what is read.
func (w *workspace) still(root *os.Root, rel string, opened fs.FileInfo) bool {
	full := filepath.Join(w.real, rel)
	real, err := filepath.EvalSymlinks(full)
	if err != nil || real != full {
		return false
	}
	now, err := root.Lstat(rel)
	return err == nil && os.SameFile(now, opened)
}

// special is the error for what cannot be shown as a file.
func special(name string, st fs.FileInfo) error {
	var what string
	switch m := st.Mode(); {
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	default:
		what = "something special"
	}
	return agent.Errorf(event.KindNotRegular,
		"%s is %s. webchat shows regular files and folders only.", name, what)
}
