package patch_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/patch"
)

// revert takes a diff of one file back.
func revert(now []byte, diff string) ([]byte, bool) {
	for _, e := range event.ParseDiff(diff) {
		return patch.Revert(now, e)
	}
	return nil, false
}

// Texts that have nothing in common, or only lines that occur often, are compared within what
// their length costs.
func TestHostileTextsAreCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, kinds := range []int64{1, 2, 50, 1 << 60} {
		text := func() []byte {
			var b []byte
			for len(b) < 1<<20 {
				b = append(strconv.AppendInt(b, r.Int64N(kinds), 10), '\n')
			}
			return b
		}
		was, now := text(), text()
		if got, ok := revert(now, patch.Unified(was, now)); !ok && !bytes.Equal(was, now) || ok &&
			!bytes.Equal(got, was) {
			t.Errorf("%d kinds of lines: back %v", kinds, ok)
		}
	}
}

// What ends in CR LF equals what ends in LF, and keeps its ends when an edit is taken back.
func TestLineEndsAreNoChange(t *testing.T) {
	was, now := []byte("a\r\nb\r\nc\r\n"), []byte("a\nB\nc\n")
	diff := patch.Unified(was, now)
	if added, removed := patch.Changed(was, now); added != 1 || removed != 1 {
		t.Errorf("%d added, %d removed: %q", added, removed, diff)
	}
	if got, ok := revert(now, diff); !ok || !bytes.Equal(got, was) {
		t.Errorf("back %v %q", ok, got)
	}
}

// A diff taken back gives the text from before, and counts what it does.
func TestRevert(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(strings.Repeat("x", r.IntN(12)) + "\n")
		}
		if r.IntN(3) == 0 {
			b.WriteString("no end")
		}
		return b.String()
	}
	for range 2000 {
		was := text(r.IntN(40))
		lines := strings.SplitAfter(was, "\n")
		for range r.IntN(5) {
			i := r.IntN(len(lines))
			switch r.IntN(3) {
			case 0:
				lines[i] = "new " + lines[i]
			case 1:
				lines = slices.Delete(lines, i, min(len(lines), i+r.IntN(3)))
			default:
				lines = slices.Insert(lines, i, "put\n")
			}
			if len(lines) == 0 {
				break
			}
		}
		now := strings.Join(lines, "")
		diff := patch.Unified([]byte(was), []byte(now))
		if diff == "" {
			if was != now {
				t.Fatalf("no difference between %q and %q", was, now)
			}
			continue
		}
		got, ok := revert([]byte(now), diff)
		if !ok || string(got) != was {
			t.Fatalf("%q to %q by\n%s: back %v %q", was, now, diff, ok, got)
		}
	}
}

// What others write as diffs is read, and one that does not fit is refused.
func TestForeignDiff(t *testing.T) {
	for _, c := range []struct {
		name, now, diff, was string
		ok                   bool
	}{
		{"of git", "one\n2\nthree\n",
			"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ func x\n one\n-two\n" +
				"+2\n three\n", "one\ntwo\nthree\n", true},
		{"a file made", "a\nb\n", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", "", true},
		{"emptied", "", "@@ -1,2 +0,0 @@\n-a\n-b\n", "a\nb\n", true},
		{"moved since, and only there", "new\none\n2\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
			"new\none\ntwo\n", true},
		{"moved, and at two places", "new\n2\n2\n2\n", "@@ -9 +9 @@\n-two\n+2\n", "", false},
		{"changed since", "one\n3\n", "@@ -2 +2 @@\n-two\n+2\n", "", false},
		{"no diff", "one\n", "done", "", false},
		{"a minus that is a line of it", "-- x\n", "@@ -1 +1 @@\n--- old\n+-- x\n", "-- old\n", true},
		{"without heads", "one\n2\nthree\n", "--- /w/x\n+++ /w/x\n-two\n+2\n", "one\ntwo\nthree\n", true},
		{"a file made, without heads", "a\nb\n", "--- /w/x\n+++ /w/x\n+a\n+b\n", "", true},
		{"a list of points", "- a\n", "- a\n+ b\n", "", false},
		{"an empty line without its blank", "a\n\nc\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "a\n\nb\n",
			true},
	} {
		was, ok := revert([]byte(c.now), c.diff)
		if ok != c.ok || string(was) != c.was && ok {
			t.Errorf("%s: %v %q", c.name, ok, was)
		}
	}
}

// No text makes a diff that cannot be read.
func FuzzRevert(f *testing.F) {
	f.Add("a\n", "@@ -1 +1 @@\n-b\n+a\n")
	f.Add("", "@@ -1,2 +0,0 @@\n\\ x")
	f.Fuzz(func(t *testing.T, now, diff string) {
		if was, ok := revert([]byte(now), diff); ok && !strings.ContainsAny(diff, "+-") {
			t.Errorf("%q was taken back and changes nothing: %q", diff, was)
		}
	})
}
