package files

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// pointers are what a repository pointed to: by ref, with HEAD among them.
type pointers map[string]string

const gitFolder = ".git"

// pointersOf reads those of a snapshot.
func (p *shelf) pointersOf(s snapshot) (all pointers, index version, err error) {
	all = pointers{}
	entries, err := p.objects.tree(s.git)
	for _, e := range entries {
		if e.name == "index" {
			index = e.version
			continue
		}
		data, err := p.objects.get(blobKind, e.hash)
		if err != nil {
			return nil, index, err
		}
		if e.name == "HEAD" {
			all["HEAD"] = strings.TrimSpace(string(data))
			continue
		}
		for line := range strings.Lines(string(data)) {
			to, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if symbolic, ref, ok := cutSymbolic(to, name); ok {
				to, name = symbolic, ref
			}
			if plainRef(name) {
				all[name] = to
			}
		}
	}
	return all, index, err
}

// cutSymbolic takes a line of a ref that points to another apart: "ref: OTHER NAME".
func cutSymbolic(first, rest string) (to, name string, ok bool) {
	if first != "ref:" {
		return "", "", false
	}
	other, name, ok := strings.Cut(rest, " ")
	return "ref: " + other, name, ok
}

// planGit compares what a repository points to, and what is staged in it, with what that was.
func (p *shelf) planGit(ctx context.Context, root *os.Root, from, to snapshot, others othersInGit,
	r *Restored) (steps []step, err error) {
	if from.git == to.git {
		return nil, nil
	}
	if others.refs { // a commit of somebody's that no ref leads to would be lost
		r.Kept = append(r.Kept, KeptFile{gitFolder, KeptChanged})
		return nil, nil
	}
	if !canRestoreGit(root, from, to, r) {
		return nil, nil
	}
	g := &gitChange{
		shelf:    p,
		root:     root,
		git:      filepath.Join(p.workspace, gitFolder),
		others:   others,
		restored: r,
	}
	if g.was, g.wasStaged, err = p.pointersOf(from); err != nil {
		return nil, err
	}
	if g.then, g.thenStaged, err = p.pointersOf(to); err != nil {
		return nil, err
	}
	if g.now = refsOf(g.git); g.now == nil {
		g.now = pointers{}
	}
	g.now["HEAD"] = headLine(g.git)
	if err := g.planRefs(ctx); err != nil {
		return nil, err
	}
	if err := g.planIndex(ctx); err != nil {
		return nil, err
	}
	return g.steps, ctx.Err()
}

// canRestoreGit reports whether a repository can be brought back. Why not is noted.
func canRestoreGit(root *os.Root, from, to snapshot, r *Restored) bool {
	st, err := root.Lstat(gitFolder)
	// it came or went, or is elsewhere
	if from.git == "" || to.git == "" || err != nil || !st.IsDir() {
		r.NotUndone = append(r.NotUndone, NotUndone{What: gitFolder})
		return false
	}
	for _, lock := range []string{"index.lock", "HEAD.lock", "packed-refs.lock"} {
		if _, err := root.Lstat(filepath.Join(gitFolder, lock)); err == nil {
			r.Kept = append(r.Kept, KeptFile{gitFolder, KeptBusy})
			return false
		}
	}
	return true
}

// gitChange is what brings a repository back.
type gitChange struct {
	*shelf
	root *os.Root
	git  string // the repository's folder

	was, then, now        pointers // then: what they are to be again
	wasStaged, thenStaged version
	others                othersInGit

	steps    []step
	restored *Restored // what is left as it is, and why
}

// planRefs plans the refs that have changed since.
func (g *gitChange) planRefs(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(g.was))
	for name := range g.then {
		if _, both := g.was[name]; !both {
			names = append(names, name)
		}
	}
	packed := string(readGit(filepath.Join(g.git, "packed-refs")))
	there := g.objectsThere(ctx, slices.Collect(maps.Values(g.then)))
	for _, name := range names {
		at, was, then, now := path.Join(gitFolder, name), g.was[name], g.then[name], g.now[name]
		switch {
		case was == then || now == then:
		case now != was:
			g.keep(at, KeptChanged)
		case then == "" && (name == "HEAD" || strings.Contains(packed, " "+name+"\n")):
			g.keep(at, KeptPacked)
		case commitName(then) != "" && !there[then]:
			g.restored.NotUndone = append(g.restored.NotUndone, NotUndone{What: name})
		default:
			if err := g.planRef(at, now, then); err != nil {
				return err
			}
		}
	}
	return nil
}

// planRef plans a ref, which is a file unless it is packed.
func (g *gitChange) planRef(at, now, then string) error {
	is, st, err := current(g.root, at)
	if err != nil {
		g.keep(at, KeptChanged)
		return nil
	}
	t := step{path: at, from: is, st: st}
	if then != "" {
		if t.to.hash, err = g.objects.put(blobKind, []byte(then+"\n")); err != nil {
			return err
		}
		t.to.mode = plainMode
	}
	if (is != version{}) { // so that it can be put back
		if _, err = g.objects.put(blobKind, []byte(now+"\n")); err != nil {
			return err
		}
	}
	g.steps = append(g.steps, t)
	return nil
}

// planIndex plans what is staged.
func (g *gitChange) planIndex(ctx context.Context) error {
	if g.thenStaged == g.wasStaged || (g.thenStaged == version{}) {
		return nil
	}
	at := path.Join(gitFolder, "index")
	switch is, st, err := current(g.root, at); {
	case err == nil && is.hash == g.thenStaged.hash:
	case err != nil || g.others.index ||
		is.hash != g.wasStaged.hash && !g.sameStaged(ctx, g.git, g.wasStaged):
		g.keep(at, KeptChanged)
	case !g.stagedThere(ctx, g.thenStaged):
		g.restored.NotUndone = append(g.restored.NotUndone, NotUndone{What: at})
	default:
		if data := stagedOf(g.git); data != nil {
			if _, err = g.objects.put(blobKind, data); err != nil {
				return err
			}
		}
		g.steps = append(g.steps,
			step{path: at, from: is, to: version{plainMode, g.thenStaged.hash}, st: st})
	}
	return nil
}

// keep leaves a file as it is.
func (g *gitChange) keep(at string, why WhyKept) {
	g.restored.Kept = append(g.restored.Kept, KeptFile{at, why})
}

// objectsThere asks the repository which objects it has.
func (p *shelf) objectsThere(ctx context.Context, names []string) map[string]bool {
	there := map[string]bool{}
	var ask strings.Builder
	for _, name := range names {
		if commitName(name) != "" {
			ask.WriteString(name + "\n")
		}
	}
	if ask.Len() == 0 {
		return there
	}
	g := &gathering{root: p.workspace, env: p.env}
	_ = g.run(ctx, "", []string{"cat-file", "--batch-check"}, strings.NewReader(ask.String()),
		func(r io.Reader) error {
			lines := bufio.NewScanner(r)
			for lines.Scan() {
				if name, rest, _ := strings.Cut(lines.Text(), " "); rest != "missing" {
					there[name] = true
				}
			}
			return lines.Err()
		})
	return there
}

// sameStaged reports whether what is staged now is what was: git writes its index anew when it only
// looks.
func (p *shelf) sameStaged(ctx context.Context, git string, was version) bool {
	now, ok := p.stagedIn(ctx, filepath.Join(git, "index"))
	if !ok {
		return false
	}
	then, ok := p.stagedAs(ctx, was)
	return ok && bytes.Equal(now, then)
}

// sameIndex reports whether what two kept indexes have staged is the same.
func (p *shelf) sameIndex(ctx context.Context, a, b version) bool {
	was, ok := p.stagedAs(ctx, a)
	is, also := p.stagedAs(ctx, b)
	return ok && also && bytes.Equal(was, is)
}

// stagedThere reports whether the repository still has the objects that were staged.
func (p *shelf) stagedThere(ctx context.Context, was version) bool {
	list, ok := p.stagedAs(ctx, was)
	var names []string
	for record := range strings.SplitSeq(string(list), "\x00") { // MODE HASH STAGE\tNAME
		if words := strings.Fields(record); len(words) > 2 && words[0] != "160000" {
			names = append(names, words[1])
		}
	}
	there := p.objectsThere(ctx, names)
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !there[name] })
}

// stagedAs lists an index that was kept.
func (p *shelf) stagedAs(ctx context.Context, kept version) ([]byte, bool) {
	data, err := p.objects.get(blobKind, kept.hash)
	if err != nil {
		return nil, false
	}
	name := filepath.Join(p.dir, "index.was")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return nil, false
	}
	defer os.Remove(name)
	return p.stagedIn(ctx, name)
}

func (p *shelf) stagedIn(ctx context.Context, index string) (list []byte, ok bool) {
	g := &gathering{root: p.workspace, env: append(slices.Clone(p.env), "GIT_INDEX_FILE="+index)}
	err := g.run(ctx, "", []string{"ls-files", "-z", "--stage"}, nil, func(r io.Reader) (err error) {
		list, err = io.ReadAll(r)
		return err
	})
	return list, err == nil
}
