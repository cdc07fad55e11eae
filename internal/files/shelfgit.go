package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxRefs is how many refs of a repository are kept; of more, none.
const maxRefs = 10_000

// commonOf is the folder of a repository that its worktrees share.
func commonOf(git string) string {
	if git == "" {
		return ""
	}
	if to := firstLine(filepath.Join(git, "commondir")); to != "" {
		return relativeTo(git, to)
	}
	return git
}

// repository keeps what a repository points to.
func (p *shelf) repository(git string, snap *snapshot) error {
	if git == "" {
		return nil
	}
	var entries []treeEntry
	add := func(name string, data []byte) error {
		hash, err := p.objects.put(blobKind, data)
		entries = append(entries, treeEntry{name, version{plainMode, hash}})
		return err
	}
	if head := headLine(git); head != "" {
		if err := add("HEAD", []byte(head+"\n")); err != nil {
			return err
		}
	}
	if refs := refsOf(git); len(refs) > 0 {
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			fmt.Fprintf(&text, "%s %s\n", refs[name], name)
		}
		if err := add("refs", []byte(text.String())); err != nil {
			return err
		}
	}
	if st, err := os.Lstat(filepath.Join(git, "index")); err == nil {
		if p.index == "" || !sameFile(st, p.lastIndex) {
			p.index, p.lastIndex = "", st
			if data := stagedOf(git); data != nil {
				if p.index, err = p.objects.put(blobKind, data); err != nil {
					return err
				}
			}
		}
		if p.index != "" {
			entries = append(entries, treeEntry{"index", version{plainMode, p.index}})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	var err error
	snap.git, err = p.objects.putTree(entries)
	return err
}

// headLine is what HEAD of a repository says, if git would take it.
func headLine(git string) string {
	line := firstLine(filepath.Join(git, "HEAD"))
	if ref, ok := strings.CutPrefix(line, "ref: "); ok && plainRef(ref) || commitName(line) != "" {
		return line
	}
	return ""
}

// plainRef reports whether a name is that of a ref, so a path below a folder of git.
func plainRef(name string) bool {
	return strings.HasPrefix(name, "refs/") && path.Clean(name) == name &&
		filepath.IsLocal(filepath.FromSlash(name)) && writable(name) &&
		!strings.ContainsAny(name, " ~^:?*[\\") && !strings.HasSuffix(name, ".lock") &&
		!strings.Contains(name, "//")
}

// stagedOf returns the index of a repository; nil if there is none or it is not an index file.
func stagedOf(git string) []byte {
	data := readGit(filepath.Join(git, "index"))
	if !strings.HasPrefix(string(data), "DIRC") {
		return nil
	}
	return data
}

// refsOf returns the refs of a repository with what each has; none if there are too many.
func refsOf(git string) map[string]string {
	common, refs := commonOf(git), map[string]string{}
	for line := range strings.Lines(string(readGit(filepath.Join(common, "packed-refs")))) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if commitName(commit) != "" && plainRef(name) && len(refs) <= maxRefs {
			refs[name] = commit
		}
	}
	err := filepath.WalkDir(filepath.Join(common, "refs"),
		func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil // what cannot be read, and links, which git does not make any longer
			}
			rel, err := filepath.Rel(common, name)
			if ref := filepath.ToSlash(rel); err == nil && plainRef(ref) {
				line := firstLine(name)
				if to, ok := strings.CutPrefix(line, "ref: "); commitName(line) != "" || ok && plainRef(to) {
					refs[ref] = line
				}
			}
			if len(refs) > maxRefs {
				return fs.SkipAll
			}
			return nil
		})
	if err != nil || len(refs) > maxRefs {
		return nil
	}
	return refs
}

// prune deletes what no snapshot has any longer, and the shelf itself if there is none.
func (p *shelf) prune(ctx context.Context) error {
	p.measured, p.files, p.index = 0, "", "" // git knows of none of them, and may delete them
	left, err := p.snapshots()
	if err != nil {
		return err
	}
	if len(left) == 0 {
		p.open, p.top, p.forced = false, "", nil
		return os.RemoveAll(p.dir)
	}
	if p.top == "" {
		p.top = p.workspace // this process took none yet
	}
	return p.git(ctx, p.dir, []string{"prune", "--expire=now"}, nil, drain)
}

// snapshots are the files of all refs, the oldest first.
func (p *shelf) snapshots() (list []string, err error) {
	at := map[string]int64{}
	err = filepath.WalkDir(filepath.Join(p.dir, "refs"),
		func(name string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			st, err := d.Info()
			if err == nil {
				at[name] = st.ModTime().UnixNano()
				list = append(list, name)
			}
			return err
		})
	slices.SortFunc(list, func(a, b string) int { return int(max(-1, min(1, at[a]-at[b]))) })
	return list, err
}

// bound deletes the oldest snapshots where all are too large. The last two stay.
func (p *shelf) bound(ctx context.Context, most int64) error {
	if p.measured == 0 {
		p.measured, p.objects.written = sizeOf(p.dir), 0
	}
	for p.measured+p.objects.written > most {
		list, err := p.snapshots()
		if err != nil || len(list) <= 2 {
			return err
		}
		for _, name := range list[:max(1, min(len(list)/4, len(list)-2))] {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
		if err := p.prune(ctx); err != nil {
			return err
		}
		p.measured, p.objects.written = sizeOf(p.dir), 0
	}
	return nil
}
