package displaytools

import (
	"context"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/proc"
)

// The model reads by name what it wrote itself or sees inside; of the rest it reads that there is
// more.
func TestRefusedIsNamed(t *testing.T) {
	var refused []event.SandboxRefused
	var read []string
	b := newBench(t, func(c *Config) {
		c.Env = append(c.Env, "HOME=/home/ada")
		c.Confine = func(_ context.Context, cmd proc.Command) (proc.Command, Refusals, error) {
			return cmd, func(exit int, text string) []event.SandboxRefused {
				read = append(read, text)
				return refused
			}, nil
		}
	})
	bashrc, env := event.SandboxRefused{Kind: event.RefusedPath, What: "/home/ada/.bashrc"},
		event.SandboxRefused{Kind: event.RefusedPath, What: b.dir + "/.env", Inside: true}
	key := event.SandboxRefused{Kind: event.RefusedPath, What: "/home/ada/MARK"}
	for _, one := range []struct {
		command string
		refused []event.SandboxRefused
		want    string
	}{
		{"true", nil, "Command completed (exit 0, 0 lines)"},
		{"true ~/.bashrc; false", []event.SandboxRefused{bashrc},
			"Command completed (exit 1, 0 lines). The sandbox refused ~/.bashrc"},
		{"true /home/ada/.bashrc", []event.SandboxRefused{bashrc, key},
			"Command completed (exit 0, 0 lines). The sandbox refused ~/.bashrc, 1 more"},
		{"echo make", []event.SandboxRefused{env, bashrc, key},
			"Command completed (exit 0, 1 line). The sandbox refused .env, 2 more"},
		{"echo make", []event.SandboxRefused{key},
			"Command completed (exit 0, 1 line). The sandbox refused what the user sees"},
	} {
		refused = one.refused
		res := b.call(RunCommand, "command", one.command)
		if res.TextForModel != one.want || len(res.Refused) != len(one.refused) {
			t.Errorf("%s: %q, not %q", one.command, res.TextForModel, one.want)
		}
	}
	read = nil
	b.call(RunCommand, "command", "echo first; seq 100000; echo last >&2; exit 3")
	if len(read) != 1 || !strings.HasPrefix(read[0], "first\n1\n") ||
		!strings.HasSuffix(read[0], "100000\nlast\n") || len(read[0]) > 2*mostRead {
		t.Errorf("%d bytes were read for what was refused", len(read[0]))
	}
}
