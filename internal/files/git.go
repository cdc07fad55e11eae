package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"webchat/internal/proc"
)

// gitEnv is env without what would point git elsewhere, and with what keeps it from writing,
// fetching and asking.
func gitEnv(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(strings.ToUpper(kv), "GIT_")
	})
	return append(kept, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_TERMINAL_PROMPT=0")
}

// git finds the files of the repository that dir is in, as far as they are below dir. The formats
// are those of git-ls-files(1).
func (g *gathering) git(ctx context.Context, dir string) error {
	in := func(name string) string { return path.Join(dir, name) }
	last := ""
	// What is tracked is in one file, and known at once.
	err := g.ask(ctx, dir, []string{"--stage"}, func(tag byte, record string) error {
		about, name, ok := strings.Cut(record, "\t")
		if !ok || tag == 'S' || name == last { // S: not checked out; a conflict has up to three records
			return nil
		}
		last = name
		if strings.HasPrefix(about, "160000 ") { // another repository
			g.nested(in(name))
			return nil
		}
		return g.add(in(name))
	})
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	err = g.ask(ctx, dir, []string{"--deleted", "--others", "--exclude-standard"},
		func(tag byte, name string) error {
			switch {
			case tag == 'R':
				gone[in(name)] = true
			case strings.HasSuffix(name, "/"):
				g.nested(in(name))
			default:
				return g.add(in(name))
			}
			return nil
		})
	if len(gone) > 0 {
		g.paths = slices.DeleteFunc(g.paths, func(name string) bool { return gone[name] })
	}
	return err
}

// nested remembers a repository below this one, if it is there.
func (g *gathering) nested(dir string) {
	if g.isRepository(dir) && !slices.Contains(g.folders, dir) {
		g.folders = append(g.folders, dir)
	}
}

// ask runs git ls-files in dir and calls each for its records, which are "T text".
func (g *gathering) ask(ctx context.Context, dir string, args []string,
	each func(tag byte, text string) error) error {
	args = append([]string{"ls-files", "-z", "-t"}, args...)
	return g.run(ctx, dir, args, nil, func(r io.Reader) error {
		return records(r, func(record string) error {
			if len(record) < 3 || record[1] != ' ' {
				return errors.New("git ls-files: a record is not as documented")
			}
			return each(record[0], record[2:])
		})
	})
}

// run runs a command of git in dir, with what it reads, and has read take what it writes.
func (g *gathering) run(ctx context.Context, dir string, args []string, in io.Reader,
	read func(io.Reader) error) error {
	return runGit(ctx, gitCommand{
		dir:  filepath.Join(g.root, filepath.FromSlash(dir)),
		env:  g.env,
		args: args,
		in:   in,
		says: io.Discard,
	}, read)
}

// gitCommand is one command of git.
type gitCommand struct {
	dir  string
	env  []string
	args []string
	in   io.Reader // nil: nothing
	says io.Writer // takes its standard error
}

// runGit runs a command, and has read take what it writes.
func runGit(ctx context.Context, c gitCommand, read func(io.Reader) error) error {
	child, err := proc.Start(proc.Command{
		Args:  append([]string{"git", "--no-pager", "-c", "core.fsmonitor=false"}, c.args...),
		Dir:   c.dir,
		Env:   c.env,
		Pipes: true,
	})
	if err != nil {
		return err
	}
	over, cancel := context.WithCancel(context.Background())
	cancel() // what is stopped has nothing to tidy up
	defer context.AfterFunc(ctx, func() { _, _ = child.Stop(over) })()
	defer child.Stop(over)
	var piped sync.WaitGroup
	piped.Go(func() {
		if c.in != nil {
			_, _ = io.Copy(child.Stdin(), c.in) // it says itself what it lacks
		}
		_ = child.Stdin().Close()
	})
	piped.Go(func() { _, _ = io.Copy(c.says, child.Stderr()) }) // it would stop at a full pipe
	if err = read(child.Stdout()); err != nil {
		_, _ = child.Stop(over)
	}
	piped.Wait()
	exit, waited := child.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case waited != nil:
		return waited
	case exit.Code != 0:
		return &GitError{Command: c.args[0], Code: exit.Code}
	}
	return nil
}

// records reads records that end in NUL.
func records(r io.Reader, each func(record string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), 2*maxPath)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		if atEOF && len(data) > 0 {
			return 0, nil, io.ErrUnexpectedEOF
		}
		return 0, nil, nil
	})
	for s.Scan() {
		if err := each(s.Text()); err != nil {
			return err
		}
	}
	return s.Err()
}
