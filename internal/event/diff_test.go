package event_test

import (
	"fmt"
	"strings"
	"testing"

	"webchat/internal/event"
)

// short is an edit in a line: its names, then what each hunk is.
func short(e event.Edit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s>%s", e.Old, e.New)
	for _, one := range []struct {
		word string
		is   bool
	}{{" binary", e.Binary}, {" creates", e.Creates()}, {" deletes", e.Deletes()},
		{" lossy", e.Lossy()}} {
		if one.is {
			b.WriteString(one.word)
		}
	}
	for _, h := range e.Hunks {
		if h.Placed {
			fmt.Fprintf(&b, " @%d,%d", h.Old, h.New)
		} else {
			b.WriteString(" @?")
		}
		for _, l := range h.Lines {
			fmt.Fprintf(&b, " %c%q", l.Op, l.Text)
		}
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, diff string
		want       []string
	}{
		{"of git",
			"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ func x\n one\n-two\n" +
				"+2\n", []string{`a/x>b/x @1,1  "one\n" -"two\n" +"2\n"`}},
		{"a hunk alone", "@@ -3 +4 @@\n-a\n+b", []string{`> @3,4 -"a\n" +"b\n"`}},
		{"two files",
			"--- a/x\t2026\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\ndiff --git a/y b/y\nnew file mode 100644\n--- " +
				"/dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+c\n",
			[]string{`a/x>b/x @1,1 -"a\n" +"b\n"`, `/dev/null>b/y creates @0,1 +"c\n"`}},
		{"a dialect of git",
			"\ndiff --git a/x b/x\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ " +
				"b/x\n@@ -1,0 +1,1 @@\n+c\n", []string{`a/dev/null>b/x @1,1 +"c\n"`}},
		{"deleted",
			"diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-\uFFFD\n",
			[]string{`a/x>/dev/null deletes lossy @1,0 -"�\n"`}},
		{"lines that look like names",
			"@@ -1,2 +1,2 @@\n--- x\n+++ y\n--- z\n+++ z\n@@ -9 +9 @@\n-a\n+b\n",
			[]string{`> @1,1 -"-- x\n" +"++ y\n" -"-- z\n" +"++ z\n" @9,9 -"a\n" +"b\n"`}},
		{"names without a hunk", "--- x\n+++ x\n--- y\n+++ y\n-a\n+b\n",
			[]string{`x>x`, `y>y @? -"a\n" +"b\n"`}},
		{"not text", "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n",
			[]string{`a/x.png>b/x.png binary`}},
		{"cut off", "--- x\n+++ x\n@@ -1,9 +1,9 @@\n-a\n+b\n@@ -20 +20 @@\n-c\n+d\n",
			[]string{`x>x @? -"a\n" +"b\n" @20,20 -"c\n" +"d\n"`}},
		{"no end", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
			[]string{`> @1,1 -"a" +"b"`}},
		{"blanks that are lost", "@@ -1,3 +1,3 @@\n\n\r\n-a\n+b\n",
			[]string{`> @1,1  "\n"  "\r\n" -"a\n" +"b\n"`}},
		{"no diff", "done\n- a\n+ b\n", []string{`>`}},
		{"nothing", "", nil},
	} {
		var got []string
		for _, e := range event.ParseDiff(c.diff) {
			got = append(got, short(e))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// No line of what is read is lost, whatever it is.
func FuzzParse(f *testing.F) {
	f.Add("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of " +
		"file\nBinary files a and b differ\n")
	f.Add("@@ -1,1 +1,1 @@\n--- a\n+++ b\n@@ -5,2 +3\n- x\n\n\r\n@@ --1 +1 @@\n-a\n+b\n")
	f.Fuzz(func(t *testing.T, diff string) {
		var want, got []string
		for l := range strings.Lines(diff) {
			if !strings.HasPrefix(l, `\`) { // which is a remark
				want = append(want, strings.TrimLeft(strings.TrimRight(l, "\r\n"), " "))
			}
		}
		add := func(lines ...string) {
			for _, l := range lines {
				if !strings.HasPrefix(l, `\`) {
					got = append(got, strings.TrimLeft(strings.TrimRight(l, "\r\n"), " "))
				}
			}
		}
		for _, e := range event.ParseDiff(diff) {
			add(e.Head...)
			for _, h := range e.Hunks {
				if h.Head != "" {
					add(h.Head)
				}
				for _, l := range h.Lines {
					add(string(l.Op) + l.Text)
				}
				add(h.After...)
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q became %q", want, got)
		}
	})
}

// Git names files that are not text in one line, whatever their names hold.
func TestBinaryNames(t *testing.T) {
	for line, want := range map[string][2]string{
		"Binary files a/x.png and b/x.png differ\n": {"a/x.png", "b/x.png"},
		"Binary files a/you and me.png and b/you and me.png differ\r\n": {"a/you and me.png",
			"b/you and me.png"},
		"Binary files /dev/null and b/you and me.png differ": {"/dev/null", "b/you and me.png"},
		"Binary files a/you and me.png and /dev/null differ": {"a/you and me.png", "/dev/null"},
		"Binary files differ":                                {},
		" Binary files a and b differ":                       {},
		"Binary files a and b":                               {},
	} {
		if e := event.ParseDiff(line)[0]; e.Old != want[0] || e.New != want[1] ||
			e.Binary != (e.Old != "") {
			t.Errorf("%q: %+v", line, e)
		}
	}
}
