package displaytools

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
)

// sparse makes a file of the given size, with texts at some places.
func (b *bench) sparse(name string, size int64, texts map[int64]string) {
	b.t.Helper()
	path := b.write(name, "")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		b.t.Skipf("no file of %d bytes can be made here: %v", size, err)
	}
	for at, text := range texts {
		if _, err := f.WriteAt([]byte(text), at); err != nil {
			b.t.Fatal(err)
		}
	}
}

// within plans and runs a call that must not take long, and fails if it does. A machine on
// which little of that time is ours reads all the same.
func (b *bench) within(kv ...any) agent.Result {
	b.t.Helper()
	b.set.readTime = time.Minute
	ctx, cancel := context.WithTimeout(b.ctx(), b.set.readTime)
	defer cancel()
	return b.run(ctx, b.plan(RenderFile, kv...))
}

const tera = 1e12

// THREATS 82: ten terabytes of holes are not read.
func TestThreat82SparseFile(t *testing.T) {
	b := newBench(t, nil)
	b.sparse("disk.img", 10*tera, map[int64]string{10*tera - 5: "end\n\n"})
	res := b.within("path", "disk.img")
	if want := "Displayed disk.img to user (binary)"; res.TextForModel != want ||
		res.SessionLog != "" {
		t.Fatalf("%+v, want %q", res, want)
	}
	o := b.output(res)
	if m := o.Meta(); o.Size() != 10*tera || !m.Truncated || m.Gap == nil || m.TotalLines != 2 {
		t.Errorf("%+v of %d bytes", m, o.Size())
	}
	tail := make([]byte, 10)
	if _, err := o.ReadAt(tail, 10*tera-10); err != nil ||
		string(tail) != "\x00\x00\x00\x00\x00end\n\n" {
		t.Errorf("it ends with %q, %v", tail, err)
	}
}

// THREATS 45: lines around holes have their true numbers.
func TestThreat45LinesOfASparseFile(t *testing.T) {
	b := newBench(t, nil)
	head := strings.Repeat("line\n", 2000)
	b.sparse("sparse.log", 10*tera, map[int64]string{0: head, 4 * tera: "\nmiddle\n",
		10*tera - 5: "last\n"})
	for _, x := range []struct {
		from, to int
		want     string
	}{
		{1, 2, "line\nline\n"},
		{2002, 2002, "middle\n"},
	} {
		res := b.within("path", "sparse.log", "startLine", x.from, "endLine", x.to)
		if got := b.bytes(res); got != x.want {
			t.Errorf("lines %d to %d are %q, want %q", x.from, x.to, got, x.want)
		}
		if m := b.output(res).Meta(); m.TotalLines != 2003 || m.Unread != 0 {
			t.Errorf("%+v", m)
		}
	}
	res := b.within("path", "sparse.log", "startLine", 2001) // which is a hole of 4 TB
	if want := "Displayed sparse.log to user (3 lines)"; res.TextForModel != want {
		t.Fatalf("%+v, want %q", res, want)
	}
	o := b.output(res)
	if m := o.Meta(); m.Gap == nil || m.StartLine != 2001 ||
		o.Size() != int64(10*tera)-int64(len(head)) {
		t.Errorf("%+v of %d bytes", m, o.Size())
	}
}

// What takes too long is shown as far as it was read, and the rest is said.
func TestThreat82ReadingTakesTooLong(t *testing.T) {
	b := newBench(t, nil)
	if b.set.readTime != 10*time.Second {
		t.Errorf("one showing may read for %v", b.set.readTime)
	}
	b.set.readTime = 1 // nanosecond: the first piece is always read
	b.write("long.log", strings.Repeat("0123456789abcde\n", 1<<16))
	res := b.call(RenderFile, "path", "long.log")
	if want := "Displayed long.log to user (first 262 kB)"; res.TextForModel != want {
		t.Errorf("%q, want %q", res.TextForModel, want)
	}
	if want :=
		"Reading stopped after 0 ms: the last 786 kB of 1.0 MB were not read. Run tail to see the " +
			"end."; res.SessionLog != want {
		t.Errorf("%q, want %q", res.SessionLog, want)
	}
	m := b.output(res).Meta()
	if !m.Truncated || m.Unread != 1<<20-readSize || m.TotalLines != readSize/16 ||
		len(b.bytes(res)) != readSize {
		t.Errorf("%+v", m)
	}
	if got := b.call(RenderFile, "path", "long.log", "startLine", 3, "endLine",
		4); got.TextForModel != "Displayed long.log to user (2 lines)" {
		t.Errorf("%+v", got)
	}
	if got := b.refused(RenderFile, "path", "long.log", "startLine",
		20_000); got != "Line 20000 of long.log was not reached within 0 ms. Run sed or tail to see it." {
		t.Error(got)
	}
	b.write("short.log", "one\n")
	if got := b.call(RenderFile, "path",
		"short.log"); got.TextForModel != "Displayed short.log to user (1 line)" || got.SessionLog != "" {
		t.Errorf("%+v", got)
	}
}
