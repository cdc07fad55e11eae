package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Git runs commands of git that change a repository, with all off that the repository could have it
// run: hooks, drivers of attributes, monitors, signing, submodules and editors. Its methods may be
// called concurrently.
type Git struct{ env []string }

// NewGit returns a Git whose commands inherit an environment.
func NewGit(env []string) *Git { return &Git{gitEnv(env)} }

// GitError is a command of git that failed.
type GitError struct {
	Command string
	Code    int
	Says    string // what it wrote to its standard error
}

func (e *GitError) Error() string {
	says, _, _ := strings.Cut(strings.TrimSpace(e.Says), "\n")
	return fmt.Sprintf("git %s ended with status %d: %s", e.Command, e.Code, says)
}

// nothingRuns are the settings under which nothing of a repository runs.
var nothingRuns = [][2]string{{"core.hooksPath", os.DevNull}, {"core.attributesFile", os.DevNull},
	{"core.editor", "true"}, {"commit.gpgSign", "false"}, {"submodule.recurse", "false"},
	{"gc.auto", "0"}, {"maintenance.auto", "false"}, {"merge.autoStash", "false"},
	{"merge.verifySignatures", "false"}, {"core.untrackedCache", "false"}}

// In returns a Repository for the one that a folder is in. Its settings are read once: a driver
// that is set up later is not known.
func (g *Git) In(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{dir: dir, env: g.env}
	names, err := r.Run(ctx, nil, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	off := slices.Clone(nothingRuns)
	for name := range strings.SplitSeq(string(names), "\x00") {
		i := strings.LastIndexByte(name, '.')
		if i < 0 {
			continue
		}
		switch kind, _, _ := strings.Cut(name, "."); kind + name[i:] {
		case "filter.clean", "filter.smudge", "filter.process", "diff.command", "diff.textconv":
			off = append(off, [2]string{name, ""})
		case "filter.required":
			off = append(off, [2]string{name, "false"})
		case "merge.driver": // as a text
			off = append(off, [2]string{name, "git merge-file %A %O %B"})
		}
	}
	set := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(off))}
	for i, setting := range off { // not by -c, which a name may have parts of
		set = append(set, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, setting[0]),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, setting[1]))
	}
	return r.With(set...), nil
}

// Repository runs commands of git in one folder.
type Repository struct {
	dir string
	env []string
}

// With returns r with variables for its commands.
func (r *Repository) With(env ...string) *Repository {
	return &Repository{r.dir, slices.Concat(r.env, env)}
}

// Run runs one command, with what it reads, and returns what it wrote. The error is a [*GitError]
// if the command failed; then what it wrote is returned, too.
func (r *Repository) Run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	var out, says bytes.Buffer
	err := runGit(ctx, gitCommand{dir: r.dir, env: r.env, args: args, in: in, says: &says},
		func(from io.Reader) error {
			_, err := io.Copy(&out, from)
			return err
		})
	if failed, ok := errors.AsType[*GitError](err); ok {
		failed.Says = says.String()
	}
	return out.Bytes(), err
}

// Line is [Repository.Run] of a command that writes one line.
func (r *Repository) Line(ctx context.Context, args ...string) (string, error) {
	out, err := r.Run(ctx, nil, args...)
	return strings.TrimRight(string(out), "\r\n"), err
}

// Index returns r with an index of its own, in a folder, which begins as the repository's.
func (r *Repository) Index(ctx context.Context, in string) (*Repository, error) {
	own := filepath.Join(in, "index")
	name, err := r.Line(ctx, "rev-parse", "--git-path", "index")
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, name)
	}
	st, err := os.Stat(name)
	if err == nil {
		err = copyIndex(name, own, st.ModTime())
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return r.With("GIT_INDEX_FILE=" + own), nil
}

// copyIndex keeps when the index was written: what is as old as that, git reads again.
func copyIndex(from, to string, written time.Time) error {
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err == nil {
		err = os.Chtimes(to, written, written)
	}
	return err
}
