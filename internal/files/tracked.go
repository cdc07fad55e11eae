package files

import (
	"context"
	"io"
)

// Tracked returns which of some files, relative to a folder, git has in the index of the
// repository that the folder is in. An error means git did not answer.
func Tracked(ctx context.Context, env []string, dir string, names []string) (tracked []string, err error) {
	g := &gathering{root: dir, env: gitEnv(env)}
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--"}, names...)
	err = g.run(ctx, "", args, nil, func(r io.Reader) error {
		return records(r, func(name string) error {
			tracked = append(tracked, name)
			return nil
		})
	})
	return tracked, err
}
