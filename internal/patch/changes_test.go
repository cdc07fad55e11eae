package patch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"webchat/internal/patch"
)

// Edits one after the other count as many changes as there are between the first text and the last.
func TestEditsOfOnePlaceAreOneChange(t *testing.T) {
	lines := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf("line %d\n", i))
		}
		return list
	}
	r := rand.New(rand.NewPCG(11, 12))
	for range 3000 {
		now := lines(r.IntN(60))
		was := strings.Join(now, "")
		var e patch.Edits
		for edit := range 1 + r.IntN(6) {
			before := strings.Join(now, "")
			at := r.IntN(len(now) + 1)
			n := min(r.IntN(4), len(now)-at)
			var put []string
			for k := range r.IntN(4) {
				put = append(put, fmt.Sprintf("edit %d, %d\n", edit, k))
			}
			now = append(append(append([]string{}, now[:at]...), put...), now[at+n:]...)
			e.Add(patch.Unified([]byte(before), []byte(strings.Join(now, ""))))
		}
		var want patch.Edits
		diff := patch.Unified([]byte(was), []byte(strings.Join(now, "")))
		want.Add(diff)
		if e.Changes() != want.Changes() {
			t.Fatalf("%d changes, want %d: %s", e.Changes(), want.Changes(), diff)
		}
	}

	var back patch.Edits
	back.Add("@@ -1 +1 @@\n-a\n+b\n")
	back.Add("--- x\n+++ x\n@@ -1 +1 @@\n-b\n+a\n")
	if n := back.Changes(); n != 0 {
		t.Errorf("an edit and its contrary: %d changes", n)
	}
	back.Add("--- x\n+++ x\n-somewhere\n+else\n")
	if n := back.Changes(); n != 1 {
		t.Errorf("an edit without a place: %d changes", n)
	}
	back.Add("@@ -90,2 +90,1 @@\n-nowhere\n-near\n+x\n@@ -1,3 +1,0 @@\n-a\n-b\n-c\n@@ -1 +9223372036854775807 @@\n-a\n+b\n")
	back.Changes() // of diffs that do not fit, it counts something
}

// Git names files that are not text in one line, whatever their names hold.
func TestBinaryNames(t *testing.T) {
	for line, want := range map[string][2]string{
		"Binary files a/x.png and b/x.png differ\n":                     {"a/x.png", "b/x.png"},
		"Binary files a/you and me.png and b/you and me.png differ\r\n": {"a/you and me.png", "b/you and me.png"},
		"Binary files /dev/null and b/you and me.png differ":            {"/dev/null", "b/you and me.png"},
		"Binary files a/you and me.png and /dev/null differ":            {"a/you and me.png", "/dev/null"},
		"Binary files differ":                                           {},
		" Binary files a and b differ":                                  {},
		"Binary files a and b":                                          {},
	} {
		if was, now, ok := patch.BinaryNames(line); was != want[0] || now != want[1] || ok != (was != "") {
			t.Errorf("%q: %q and %q, %t", line, was, now, ok)
		}
	}
}
