package displaytools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/outputs"
)

func TestBytesAreKept(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	long := strings.Repeat("a line of a longer file\n", 40000)
	for name, text := range map[string]string{
		"plain.txt":   "one\ntwo\n",
		"no-end.txt":  "one\ntwo",
		"crlf.txt":    "one\r\ntwo\r\n",
		"invalid.txt": "a\xff\xfe\xc3(b\n",
		"bytes.bin":   string(all),
		"empty.txt":   "",
		"fence.md":    "```\n<img src=//sink>\n```",
		"long.txt":    long,
		"utf16.txt":   "\xff\xfea\x00b\x00",
	} {
		b := newBench(t, nil)
		b.write(name, text)
		res := b.call(RenderFile, "path", name)
		if res.Type != agent.Success {
			t.Errorf("%s: %+v", name, res)
			continue
		}
		if got := b.bytes(res); got != text {
			t.Errorf("%s: %d bytes came back as %d", name, len(text), len(got))
		}
		m := b.output(res).Meta()
		lines := strings.Count(text, "\n")
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines++
		}
		if m.Type != outputs.File || m.Path != name || m.TotalLines != lines || m.StartLine != 1 ||
			m.EndLine != lines || m.Truncated ||
			m.Binary != (name == "bytes.bin") || m.SessionID != "s1" || m.ToolCallID != "call-1" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestLineRanges(t *testing.T) {
	b := newBench(t, nil)
	text := ""
	for i := 1; i <= 50; i++ {
		text += fmt.Sprintf("line %d\n", i)
	}
	b.write("f.go", text)
	b.write("open.txt", "a\nb\nc")
	for _, test := range []struct {
		args       []any
		want, says string
		from, to   int
	}{
		{[]any{"path", "f.go", "startLine", 49}, "line 49\nline 50\n", "(2 lines)", 49, 50},
		{[]any{"path", "f.go", "endLine", 1}, "line 1\n", "(1 line)", 1, 1},
		{[]any{"path", "f.go", "startLine", 7, "endLine", 8}, "line 7\nline 8\n", "(2 lines)", 7, 8},
		{[]any{"path", "f.go", "startLine", 50, "endLine", 900}, "line 50\n", "(1 line)", 50, 50},
		{[]any{"path", "f.go", "startLine", nil, "endLine", 2.0}, "line 1\nline 2\n", "(2 lines)", 1, 2},
		{[]any{"path", "open.txt", "startLine", 3}, "c", "(1 line)", 3, 3},
	} {
		res := b.call(RenderFile, test.args...)
		m := b.output(res).Meta()
		if got := b.bytes(res); got != test.want || m.StartLine != test.from || m.EndLine != test.to ||
			!strings.HasSuffix(res.TextForModel, test.says) {
			t.Errorf("%v: %q, %+v, %s", test.args, got, m, res.TextForModel)
		}
		if total := strings.Count(text, "\n"); test.args[1] == "f.go" && m.TotalLines != total {
			t.Errorf("%v: total %d", test.args, m.TotalLines)
		}
	}
	if got := b.refused(RenderFile, "path", "f.go", "startLine",
		60); got != "f.go has 50 lines, so there is no line 60. Ask for lines from 1 to 50." {
		t.Error(got)
	}
}

func TestLanguageAndKind(t *testing.T) {
	b := newBench(t, nil)
	b.write("main.go", "package main\n")
	b.write("noname", "#!/usr/bin/env python3\nprint(1)\n")
	b.write("x.bin", "\x7fELF\x00\x01")
	b.write("p.dat", picturePNG(2, 2)+"\x00")
	for _, test := range []struct{ path, highlight, want, mime string }{
		{"main.go", "", "Go", "text/plain; charset=utf-8"},
		{"noname", "", "Python", "text/plain; charset=utf-8"},
		{"main.go", "python", "Python", "text/plain; charset=utf-8"},
		{"main.go", "text", "", "text/plain; charset=utf-8"},
		{"x.bin", "", "", "application/octet-stream"},
		{"p.dat", "", "", "image/png"},
	} {
		m := b.output(b.call(RenderFile, "path", test.path, "highlight", test.highlight)).Meta()
		if m.Highlight != test.want || m.MimeType != test.mime {
			t.Errorf("%s as %q: %q %s", test.path, test.highlight, m.Highlight, m.MimeType)
		}
	}
	if got := b.call(RenderFile, "path",
		"x.bin").TextForModel; got != "Displayed x.bin to user (binary)" {
		t.Error(got)
	}
	if got := b.refused(RenderFile, "path", "main.go", "highlight",
		`"><script>`); !strings.Contains(got, "does not know the language") {
		t.Error(got)
	}
	if got := b.refused(RenderFile, "path", "x.bin", "startLine", 1); !strings.Contains(got,
		"x.bin is not text, so it has no lines") {
		t.Error(got)
	}
}

func TestPathsInside(t *testing.T) {
	b := newBench(t, nil)
	b.write("sub/dir/ok.txt", "fine")
	b.link("sub/dir", "short")
	b.link(filepath.Join(b.dir, "sub/dir/ok.txt"), "absolute-link")
	b.link(b.dir, "self")
	for _, path := range []string{"sub/dir/ok.txt", "./sub//dir/./ok.txt",
		filepath.Join(b.dir, "sub/dir/ok.txt"), "short/ok.txt", "absolute-link",
		"self/self/short/ok.txt"} {
		res := b.call(RenderFile, "path", path)
		if res.Type != agent.Success || b.bytes(res) != "fine" ||
			b.output(res).Meta().Path != "sub/dir/ok.txt" {
			t.Errorf("%s: %+v", path, res)
		}
	}
}

func TestWorkspaceBehindALink(t *testing.T) {
	parent := real(t, t.TempDir())
	if err := os.MkdirAll(filepath.Join(parent, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(parent, "ws")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config) {
		c.Workspace = filepath.Join(parent, "ws")
		c.Env = []string{"HOME=" + parent}
	})
	b.dir = filepath.Join(parent, "real")
	b.write("a.txt", "x")
	for _, path := range []string{filepath.Join(parent, "ws/a.txt"),
		filepath.Join(parent, "real/a.txt"), "~/ws/a.txt"} {
		if res := b.call(RenderFile, "path", path); res.Type != agent.Success {
			t.Errorf("%s: %+v", path, res)
		}
	}
	if got := b.refused(RenderFile, "path", filepath.Join(parent,
		"ws/zzzzzzzz")); got != "There is no zzzzzzzz in ~/real." {
		t.Error(got)
	}
}

func TestPathsRefused(t *testing.T) {
	outside := real(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("CANARY"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(c *Config) { c.Env = []string{"HOME=" + filepath.Dir(c.Workspace)} })
	b.write("a/b", "x")
	b.write("internal/proc/proc.go", "x")
	b.write("README.md", "x")
	b.link(filepath.Join(outside, "secret"), "escape")
	b.link(outside, "escape-dir")
	b.link("../../../../../../etc/passwd", "climb")
	b.link("round", "round")
	const leaves = "That path leaves the workspace. Only files inside "
	shown := "~/" + filepath.Base(b.dir)
	out := leaves + shown + " are shown, and links are followed first."
	before := b.store.Stats()
	for path, want := range map[string]string{
		"../x":                           out,
		"/etc/passwd":                    out,
		"/etc/no-such-file":              out,
		"a/../../x":                      out,
		"..":                             out,
		"a/../a/b":                       `A path with ".." in it is not followed. Give the plain path from ` + shown + `.`,
		"escape":                         out,
		"escape-dir/secret":              out,
		"escape-dir":                     out,
		"climb":                          out,
		filepath.Join(outside, "secret"): out,
		b.dir + "-other":                 out,
		"ok\x00.png":                     "path must not hold a NUL character",
		"a/b/c":                          "There is no a/b/c in " + shown + ".",
		"RAEDME.md": "There is no RAEDME.md in " + shown +
			". The nearest are: README.md",
		"raemde.md": "There is no raemde.md in " + shown + ". The nearest are: README.md",
		"porc.go": "There is no porc.go in " + shown +
			". The nearest are: internal/proc/proc.go",
		"proc.go": "There is no proc.go in " + shown +
			". The nearest are: internal/proc/proc.go",
		"readme": "There is no readme in " + shown + ". The nearest are: README.md",
		strings.Repeat("n", 5000): "There is no " + strings.Repeat("n", tryLength) + "… in " + shown +
			".",
		"  ":    "path is missing: give it as a string that is not empty",
		"round": "round is a link that leads back to itself. Mend the link.",
	} {
		for _, tool := range []string{RenderFile, DisplayImage} {
			if got := b.refused(tool, "path", path); got != want {
				t.Errorf("%s %q:\n got %s\nwant %s", tool, path, got, want)
			}
		}
	}
	if after := b.store.Stats(); after != before {
		t.Errorf("something was stored: %+v", after)
	}
}

// THREATS 45: a sparse file costs neither memory nor budget, and says its true size.
func TestThreat45HugeFile(t *testing.T) {
	b := newBench(t, func(c *Config) {
		store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		c.Outputs = store
	})
	const size = 1 << 30
	path := b.write("huge.log", "first\n")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\nlast\n"), size-6); err != nil {
		t.Fatal(err)
	}
	f.Close()
	b.write("small", "x")
	b.call(RenderFile, "path", "small") // the vocabulary is built once
	b.told = nil
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := b.call(RenderFile, "path", "huge.log")
	runtime.ReadMemStats(&after)
	// all that was ever allocated, garbage included
	if n := after.TotalAlloc - before.TotalAlloc; n > 20<<20 {
		t.Errorf("%d bytes were allocated to show a file of %d", n, size)
	}
	o := b.output(res)
	m := o.Meta()
	if !m.Truncated || m.Gap == nil || o.Size() != size || m.TotalLines != 3 {
		t.Errorf("%+v of %d bytes", m, o.Size())
	}
	got := b.bytes(res)
	if !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nlast\n") {
		t.Errorf("%.10q … %q", got, got[len(got)-10:])
	}
	if used := b.store.Stats().Used; used > 2*hugeEnd+1<<20 {
		t.Errorf("%d bytes are kept", used)
	}
	if len(b.told) > 0 && (b.told[0].OutputID != string(o.ID()) || b.told[0].Bytes == 0) {
		t.Errorf("progress: %+v", b.told[0])
	}
}

// The user sees the beginning of a large text while the rest is read, and what was read when that
// was stopped. What may be more than lines comes as a whole.
func TestShownWhileRead(t *testing.T) {
	b := newBench(t, nil)
	b.write("large.log", strings.Repeat("one line\n", early/9+1))
	b.write("short.log", strings.Repeat("one line\n", 4<<20/9))
	b.write("wide.log", "\xff\xfe"+strings.Repeat("x\x00\n\x00", early/4+1))
	b.write("binary", strings.Repeat("\x00\x01", early/2+1))
	first := func(name string, stop bool) (p agent.ProgressReport, growing bool, res agent.Result) {
		ctx, cancel := context.WithCancel(b.ctx())
		defer cancel()
		res, err := b.plan(RenderFile, "path", name).Run(ctx, func(now agent.ProgressReport) {
			if p.OutputID != "" {
				return
			}
			p = now
			o, err := b.store.Get(outputs.ID(p.OutputID))
			if err != nil {
				t.Error(err)
				return
			}
			if growing = !o.Complete(); stop {
				cancel()
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return p, growing, res
	}
	p, growing, res := first("large.log", false)
	if !growing || p.Bytes != readSize || p.Lines != readSize/9+1 {
		t.Errorf("first seen: %+v, growing: %v", p, growing)
	}
	if want := "Displayed large.log to user (1864136 lines)"; res.TextForModel != want ||
		b.output(res).ID() != outputs.ID(p.OutputID) {
		t.Errorf("%q of %s, not %q of %s", res.TextForModel, b.output(res).ID(), want, p.OutputID)
	}
	p, _, res = first("large.log", true)
	o, err := b.store.Get(outputs.ID(p.OutputID))
	if err != nil {
		t.Fatal(err)
	}
	if m := o.Meta(); res.Code() != "aborted" || !o.Complete() || o.Size() != readSize ||
		m.Unread != early/9*9+9-readSize || !m.Truncated {
		t.Errorf("stopped: %+v, %d bytes of %+v", res, o.Size(), m)
	}
	for _, name := range []string{"short.log", "wide.log", "binary"} {
		if p, growing, _ := first(name, false); growing && p.ElapsedMs < progressInterval.Milliseconds() {
			t.Errorf("%s was seen after %d bytes", name, p.Bytes)
		}
	}
}

func TestAbortWhileReading(t *testing.T) {
	b := newBench(t, nil)
	b.write("f", strings.Repeat("x\n", 1<<20))
	a := b.plan(RenderFile, "path", "f")
	ctx, cancel := context.WithCancel(b.ctx())
	cancel()
	if res := b.run(ctx, a); res.Type != agent.Failed || res.Code() != "aborted" {
		t.Errorf("%+v", res)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("everything is readable for root")
	}
	b := newBench(t, nil)
	if err := os.Chmod(b.write("mine", "x"), 0); err != nil {
		t.Fatal(err)
	}
	if got := b.refused(RenderFile, "path", "mine"); !strings.Contains(got,
		"its permissions forbid it") {
		t.Error(got)
	}
}

func TestNewRefuses(t *testing.T) {
	store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{Workspace: t.TempDir()}, {Outputs: store, Workspace: "relative"}} {
		if set, err := New(c); err == nil {
			set.Close()
			t.Errorf("%+v was accepted", c)
		}
	}
}

func BenchmarkRenderFile(b *testing.B) {
	bench := newBench(b, nil)
	bench.write("main.go", strings.Repeat("func main() { println(1) }\n", 400))
	bench.call(RenderFile, "path", "main.go") // the vocabulary is built once
	for b.Loop() {
		bench.call(RenderFile, "path", "main.go")
	}
}
