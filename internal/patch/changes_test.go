package patch_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/patch"
)

// add has all edits of a diff be of one text.
func add(to *patch.Places, diff string) {
	for _, e := range event.ParseDiff(diff) {
		to.Add(e)
	}
}

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
		var e patch.Places
		for edit := range 1 + r.IntN(6) {
			before := strings.Join(now, "")
			at := r.IntN(len(now) + 1)
			n := min(r.IntN(4), len(now)-at)
			var put []string
			for k := range r.IntN(4) {
				put = append(put, fmt.Sprintf("edit %d, %d\n", edit, k))
			}
			now = append(append(append([]string{}, now[:at]...), put...), now[at+n:]...)
			add(&e, patch.Unified([]byte(before), []byte(strings.Join(now, ""))))
		}
		var want patch.Places
		diff := patch.Unified([]byte(was), []byte(strings.Join(now, "")))
		add(&want, diff)
		if e.Changes() != want.Changes() {
			t.Fatalf("%d changes, want %d: %s", e.Changes(), want.Changes(), diff)
		}
	}

	var back patch.Places
	add(&back, "@@ -1 +1 @@\n-a\n+b\n")
	add(&back, "--- x\n+++ x\n@@ -1 +1 @@\n-b\n+a\n")
	if n := back.Changes(); n != 0 {
		t.Errorf("an edit and its contrary: %d changes", n)
	}
	add(&back, "--- x\n+++ x\n-somewhere\n+else\n")
	if n := back.Changes(); n != 1 {
		t.Errorf("an edit without a place: %d changes", n)
	}
	add(&back,
		"@@ -90,2 +90,1 @@\n-nowhere\n-near\n+x\n@@ -1,3 +1,0 @@\n-a\n-b\n-c\n@@ -1 "+
			"+9223372036854775807 @@\n-a\n+b\n")
	back.Changes() // of diffs that do not fit, it counts something
}
