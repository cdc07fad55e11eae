package displaytools

import (
	"errors"
	"slices"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// fault is the error of a call that must not work.
func (b *bench) fault(name string, kv ...any) agent.Result {
	b.t.Helper()
	a, err := b.tool(name).Plan(b.ctx(), object(b.t, kv...))
	if err != nil {
		return agent.FailedBy(err, event.KindBadArguments)
	}
	return b.run(b.ctx(), a)
}

func TestKindsOfErrors(t *testing.T) {
	b := newBench(t, nil)
	b.write("README.md", "hello\n")
	b.write("sub/proc.go", "package proc\n")
	b.write("other/proc.go", "package proc\n")
	b.write("data.bin", "a\x00b")
	b.link("/", "out")
	b.link("loop", "loop")
	for _, c := range []struct {
		tool string
		args []any
		kind event.ErrorKind
		near []string
	}{
		{RenderFile, []any{"path", "RAEDME.md"}, event.KindNotFound, []string{"README.md"}},
		{RenderFile, []any{"path", "proc.go"}, event.KindNotFound,
			[]string{"other/proc.go", "sub/proc.go"}},
		{RenderFile, []any{"path", "zzzzzzzzzzzz"}, event.KindNotFound, nil},
		{RenderFile, []any{"path", "../x"}, event.KindOutside, nil},
		{RenderFile, []any{"path", "out/etc/passwd"}, event.KindOutside, nil},
		{RenderFile, []any{"path", "loop"}, event.KindNotRegular, nil},
		{RenderFile, []any{"path", "data.bin", "startLine", 1}, event.KindBinary, nil},
		{RenderFile, []any{"path", "README.md", "startLine", 9}, event.KindBadArguments, nil},
		{RenderFile, []any{"path", "README.md", "startLine", "9"}, event.KindBadArguments, nil},
		{RenderFile, []any{"file", "README.md"}, event.KindBadArguments, nil},
		{DisplayImage, []any{"path", "README.md"}, event.KindNotImage, nil},
		{DisplayImage, []any{"path", "README.mg"}, event.KindNotFound, []string{"README.md"}},
		{RunCommand, []any{"command", "true", "cwd", "no"}, event.KindNotFound, nil},
		{RunCommand, []any{"command", "true", "cwd", "README.md"}, event.KindNotRegular, nil},
		{RunCommand, []any{"command", "true", "cwd", "/"}, event.KindOutside, nil},
	} {
		res := b.fault(c.tool, c.args...)
		if res.Type != agent.Failed || res.Kind != c.kind || !slices.Equal(res.Nearest, c.near) {
			t.Errorf("%s %v: %q is of kind %q, nearest %q; want %q, %q", c.tool, c.args, res.Error, res.Kind,
				res.Nearest, c.kind, c.near)
		}
	}
}

// The model reads the nearest names in its sentence; the user has them as facts.
func TestNearestForModelAndUser(t *testing.T) {
	b := newBench(t, nil)
	b.write("README.md", "")
	res := b.fault(RenderFile, "path", "raedme.md")
	said := "There is no raedme.md in " + b.set.work.shown() + "."
	if res.Error != said || res.TextForModel != said+" The nearest are: README.md" {
		t.Errorf("the user reads %q, the model %q", res.Error, res.TextForModel)
	}
}

func TestLimitsThatWereMet(t *testing.T) {
	b := newBench(t, func(c *Config) { c.CommandTimeout = 50 * time.Millisecond })
	b.write("big.png", pngHead(0xea, 0xea))
	if res := b.call(RunCommand, "command", "sleep 600"); res.Kind != event.KindTimeout ||
		res.Limit != event.LimitCommandTime {
		t.Errorf("a command: %+v", res)
	}
	if res := b.fault(DisplayImage, "path", "big.png"); res.Kind != event.KindTooLarge ||
		res.Limit != event.LimitImagePixels {
		t.Errorf("a picture: %+v", res)
	}
	var f *agent.Fault
	r := &reading{call: &fileCall{set: b.set}, from: 9}
	r.meta.Unread = 1
	if err := r.beyond("log", 3); !errors.As(err, &f) || f.Kind != event.KindTimeout ||
		f.Limit != event.LimitReadTime {
		t.Errorf("a line that was not reached: %+v", err)
	}
}
