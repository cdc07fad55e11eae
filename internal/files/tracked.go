package files

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's names of objects
	"crypto/sha256"
	"io"
	"os"
	"path"
	"strings"
)

// Tracked returns which of some files, relative to a folder, git has in the index of the
// repository that the folder is in. An error means git did not answer.
func Tracked(ctx context.Context, env []string, dir string,
	names []string) (tracked []string, err error) {
	err = indexed(ctx, env, dir, names, func(name, _ string) { tracked = append(tracked, name) })
	return tracked, err
}

// Unchanged returns those of [Tracked] that are regular files with the bytes that git has for them.
// A process that can write to the index can add any name, but not the hash of content that it has
// not read.
func Unchanged(ctx context.Context, env []string, dir string,
	names []string) (all []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = indexed(ctx, env, dir, names, func(name, object string) {
		h := past{newHash: sha1.New}
		if len(object) == 2*sha256.Size {
			h.newHash = sha256.New
		}
		if !straight(root, path.Dir(name), map[string]bool{}) {
			return
		}
		st, err := root.Lstat(name)
		if err != nil || !st.Mode().IsRegular() {
			return
		}
		data, _, err := now(root, name, maxKept)
		if err == nil && (h.name(blobKind, data) == object ||
			h.name(blobKind, plainEnds(data)) == object) {
			all = append(all, name)
		}
	})
	return all, err
}

// indexed calls each for those of some files that are in the index, with the names of their
// objects.
func indexed(ctx context.Context, env []string, dir string, names []string,
	each func(name, object string)) error {
	g := &gathering{root: dir, env: gitEnv(env)}
	args := append([]string{"--literal-pathspecs", "ls-files", "--stage", "-z", "--"}, names...)
	return g.run(ctx, "", args, nil, func(r io.Reader) error {
		return records(r, func(record string) error {
			about, name, _ := strings.Cut(record, "\t")
			if f := strings.Fields(about); len(f) == 3 && f[2] == "0" { // else a conflict
				each(name, f[1])
			}
			return nil
		})
	})
}
