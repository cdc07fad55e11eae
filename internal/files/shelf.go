package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"webchat/internal/proc"
)

// shelf is where the snapshots of one workspace are kept. It is guarded by busy.
type shelf struct {
	workspace, dir string
	env            []string
	secret         func(path string) bool
	busy           chan struct{}
	objects        objects

	open     bool
	excludes string    // the user's own list of ignored files; empty: git's default
	until    time.Time // until then there are none, because of failed
	failed   error

	top, prefix string // the work tree; the workspace in it, with a slash at its end, or empty
	files       string // the tree of the last snapshot; empty: none of this process
	rules       string // of the repository's own list of ignored files
	staged      fs.FileInfo
	// files that the repository tracks though they are ignored; true: they are in the index
	forced    map[string]bool
	lastIndex fs.FileInfo
	index     string // the blob of the repository's index when that was lastIndex
	measured  int64  // bytes on disk when they were counted last; 0: not yet
}

// git runs git in a folder of the workspace, with our git folder.
func (p *shelf) git(ctx context.Context, dir string, args []string, in io.Reader,
	read func(io.Reader) error) error {
	env := append(slices.Clone(p.env), "GIT_DIR="+p.dir, "GIT_WORK_TREE="+p.top,
		"GIT_LITERAL_PATHSPECS=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if p.excludes != "" {
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.excludesFile",
			"GIT_CONFIG_VALUE_0="+p.excludes)
	}
	g := &gathering{root: dir, env: env}
	return g.run(ctx, "", args, in, read)
}

// attributes undo all that a file of attributes could have done to what git reads.
const attributes = "* -text -ident -filter !eol !working-tree-encoding\n"

// config is that of our git folder. Git takes no other.
func gitConfig() string {
	there := map[bool]string{true: "true", false: "false"}
	unix := runtime.GOOS != "windows"
	return "[core]\n\trepositoryformatversion = 1\n\tbare = false\n\tfsmonitor = false\n" +
		"\thooksPath = " + filepath.ToSlash(os.DevNull) +
		"\n\tfileMode = " + there[unix] + "\n\tsymlinks = " + there[unix] + "\n\tignoreCase = " +
		there[!unix || runtime.GOOS == "darwin"] +
		"\n\tautocrlf = false\n[extensions]\n\tobjectFormat = sha256\n"
}

// prepare makes the git folder, and finds out where its work tree begins: above the workspace, if
// that is a part of a repository, whose lists of ignored files count.
func (p *shelf) prepare(ctx context.Context) error {
	if !p.open {
		for _, dir := range []string{"objects", "refs", "info"} {
			if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
				return err
			}
		}
		for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": gitConfig(),
			"info/attributes": attributes, "workspace": p.workspace + "\n"} {
			if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		_ = os.Remove(filepath.Join(p.dir, "index.lock")) // of a process that was killed
		g := &gathering{root: p.dir, env: p.env}
		err := g.run(ctx, "", []string{"config", "--global", "--type=path", "core.excludesFile"}, nil,
			func(r io.Reader) error {
				name, err := io.ReadAll(r)
				p.excludes = strings.TrimSpace(string(name))
				return err
			})
		switch {
		case errors.Is(err, proc.ErrNotFound):
			return fmt.Errorf("%w: %w", ErrNoGit, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		p.open = true
	}
	root, _ := findGit(p.workspace)
	if root == "" {
		root = p.workspace
	}
	if root == p.top || p.top == p.workspace && root != p.workspace && p.files != "" {
		return nil
	}
	p.top, p.files, p.staged = root, "", nil
	if root != p.workspace { // a folder that the repository ignores is a workspace of its own
		err := p.git(ctx, p.workspace, []string{"check-ignore", "--quiet", "--no-index", "."}, nil, drain)
		if err == nil || ctx.Err() != nil {
			p.top = p.workspace
		}
	}
	rel, err := filepath.Rel(p.top, p.workspace)
	if err != nil || !filepath.IsLocal(rel) {
		p.top, rel = p.workspace, "."
	}
	if p.prefix = filepath.ToSlash(rel) + "/"; rel == "." {
		p.prefix = ""
	}
	marked := filepath.Join(p.dir, "top")
	if string(readGit(marked)) != p.top { // the names of the index begin elsewhere
		if err := os.RemoveAll(filepath.Join(p.dir, "index")); err != nil {
			return err
		}
		return errors.Join(os.WriteFile(marked, []byte(p.top), 0o600), ctx.Err())
	}
	return ctx.Err()
}

// gather finds out what differs from the last snapshot and takes it in.
func (p *shelf) gather(ctx context.Context, snap *snapshot) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.workspace)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	defer root.Close()
	repository, git := findGit(p.workspace)
	rules := string(readGit(filepath.Join(commonOf(git), "info", "exclude")))
	again := p.files == "" || rules != p.rules
	if again {
		if err := os.WriteFile(filepath.Join(p.dir, "info", "exclude"), []byte(rules),
			0o600); err != nil {
			return err
		}
		p.rules = rules
	}
	index := map[string]bool{} // files that the index has, of those that may differ
	names, err := p.changed(ctx, repository == "", index)
	if err != nil {
		return err
	}
	again = again || slices.ContainsFunc(names, func(name string) bool {
		return path.Base(name) == ".gitignore"
	})
	out := map[string]bool{} // what the index must not have any longer
	if err := p.overruled(ctx, git, again, &names, index, out); err != nil {
		return err
	}
	var list bytes.Buffer // for git update-index
	if err := p.takeIn(ctx, root, names, index, out, snap, &list); err != nil {
		return err
	}
	if list.Len() > 0 {
		p.files = ""
		if err := p.git(ctx, p.top, []string{"update-index", "-z", "--index-info"}, &list,
			drain); err != nil {
			return err
		}
		// It ends with an error where a file changed since; so it is looked at again the next time.
		_ = p.git(ctx, p.top, []string{"update-index", "-q", "--refresh"}, nil, drain)
	}
	if p.files == "" {
		if p.files, err = p.tree(ctx); err != nil {
			return err
		}
	}
	snap.files = p.files
	return p.repository(git, snap)
}

// changed returns the files that differ from the index or are not in it, by their paths in the
// workspace, and adds those in it to index.
func (p *shelf) changed(ctx context.Context, bare bool,
	index map[string]bool) (names []string, err error) {
	args := []string{"--modified", "--deleted", "--others"}
	if bare { // no list says what is built there
		for _, name := range skipped {
			args = append(args, "--exclude="+name)
		}
	}
	bytes := 0
	err = p.names(ctx, args, func(tag byte, name string) error {
		if tag != '?' {
			index[name] = true
		}
		if bytes += len(name); len(names) > maxNames || bytes > maxBytes {
			return ErrTooMuch
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// names has git list files of the workspace.
func (p *shelf) names(ctx context.Context, args []string,
	each func(tag byte, name string) error) error {
	args = append([]string{"ls-files", "-z", "-t", "--exclude-standard", "--full-name"}, args...)
	return p.git(ctx, p.workspace, args, nil, func(r io.Reader) error {
		return records(r, func(record string) error {
			tag, name, ok := strings.Cut(record, " ")
			if ok {
				name, ok = strings.CutPrefix(name, p.prefix)
			}
			if !ok || tag == "" || strings.HasSuffix(name, "/") { // another repository
				return nil
			}
			return each(tag[0], name)
		})
	})
}

// overruled finds the files that a repository tracks though they are ignored, and those of the
// index that are ignored by now.
func (p *shelf) overruled(ctx context.Context, git string, again bool, names *[]string, index,
	out map[string]bool) error {
	staged, _ := os.Lstat(filepath.Join(git, "index"))
	if git == "" {
		staged = nil
	}
	if again || !sameFile(staged, p.staged) {
		forced := map[string]bool{}
		if staged != nil {
			g := &gathering{root: p.workspace, env: p.env}
			err := g.ask(ctx, "", []string{"--cached", "--ignored", "--exclude-standard"},
				func(_ byte, name string) error {
					forced[name] = p.forced[name]
					return nil
				})
			if err != nil && ctx.Err() != nil {
				return err
			}
		}
		p.forced, p.staged, again = forced, staged, true
	}
	for name, known := range p.forced {
		if !known {
			*names = append(*names, name)
		}
	}
	if !again {
		return nil
	}
	return p.names(ctx, []string{"--cached", "--ignored"}, func(_ byte, name string) error {
		if _, forced := p.forced[name]; !forced {
			index[name], out[name] = true, true
			*names = append(*names, name)
		}
		return nil
	})
}

// sameFile reports whether a file was not written meanwhile; neither may be there.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// takeIn keeps what files are now, and writes for git what its index has to say of them.
func (p *shelf) takeIn(ctx context.Context, root *os.Root, names []string, index,
	out map[string]bool, snap *snapshot, list *bytes.Buffer) error {
	total := int64(0)
	folders := map[string]bool{} // that no link leads to
	gone := func(name string) {
		if _, forced := p.forced[name]; forced {
			p.forced[name] = false
		}
		if index[name] {
			fmt.Fprintf(list, "0 %064d\t%s%s\x00", 0, p.prefix, name)
		}
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !writable(name) || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		if !straight(root, path.Dir(name), folders) {
			gone(name)
			continue
		}
		st, err := root.Lstat(filepath.FromSlash(name))
		if err != nil || out[name] || !keepable(st) {
			gone(name)
			continue
		}
		if st.Size() > maxKept || p.secret != nil && p.secret(filepath.Join(p.workspace,
			filepath.FromSlash(name))) {
			gone(name)
			snap.leave(name, st)
			continue
		}
		if total += st.Size(); total > maxSnapshot {
			return ErrTooMuch
		}
		data, mode, err := readVersion(root, name, st)
		if err != nil { // it changes now, or may not be read
			gone(name)
			snap.leave(name, st)
			continue
		}
		hash, err := p.objects.put(blobKind, data)
		if err != nil {
			return err
		}
		if _, forced := p.forced[name]; forced {
			p.forced[name] = true
		}
		fmt.Fprintf(list, "%s %s\t%s%s\x00", mode, hash, p.prefix, name)
	}
	return nil
}

// leave remembers a file that is left out.
func (s *snapshot) leave(name string, st fs.FileInfo) {
	if len(s.Left) < maxLeftOut {
		if s.Left == nil {
			s.Left = map[string]stamp{}
		}
		s.Left[name] = stamp{st.Size(), st.ModTime().UnixNano()}
	}
}

func keepable(st fs.FileInfo) bool {
	return st.Mode().IsRegular() || st.Mode().Type() == fs.ModeSymlink
}

// readVersion reads a file that was looked at.
func readVersion(root *os.Root, name string, st fs.FileInfo) (data []byte, mode string, err error) {
	if data, _, err = now(root, name, maxKept); err != nil {
		return nil, "", err
	}
	switch mode = plainMode; {
	case st.Mode().Type() == fs.ModeSymlink:
		mode = linkMode
	case st.Mode()&0o100 != 0 && runtime.GOOS != "windows":
		mode = executableMode
	}
	return data, mode, nil
}

// straight reports whether a folder of the workspace is there, and no link leads to it.
func straight(root *os.Root, dir string, known map[string]bool) (ok bool) {
	if dir == "." {
		return true
	}
	if ok, found := known[dir]; found {
		return ok
	}
	st, err := root.Lstat(filepath.FromSlash(dir))
	ok = err == nil && st.IsDir() && straight(root, path.Dir(dir), known)
	known[dir] = ok
	return ok
}

// tree has git write the tree of the workspace.
func (p *shelf) tree(ctx context.Context) (name string, err error) {
	args := []string{"write-tree"}
	if p.prefix != "" {
		args = append(args, "--prefix="+p.prefix)
	}
	err = p.git(ctx, p.top, args, nil, func(r io.Reader) error {
		line, err := io.ReadAll(r)
		name = strings.TrimSpace(string(line))
		return err
	})
	switch {
	case err == nil && commitName(name) != "":
		return name, nil
	case ctx.Err() == nil && p.prefix != "": // the index has nothing of it
		return p.objects.putTree(nil)
	}
	return "", errors.Join(err, ctx.Err())
}
