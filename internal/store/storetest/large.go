//go:build !race

package storetest

import (
	"fmt"
	"strings"
	"testing"

	"webchat/internal/event"
)

func init() { parts["Large"] = large }

// large: an event of 16 MiB, and one of so many words that an index might refuse them.
func large(t *testing.T, r *rig) {
	s := r.begin("a", 1)
	s = r.add(s, event.AssistantMessage{
		MessageID: "big",
		Content:   strings.Repeat("0123456789abcdef", 1<<20),
	})
	var words strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&words, "word-number-%d-%s ", i, strings.Repeat("x", i%40))
	}
	r.add(s, event.AssistantMessage{MessageID: "many", Content: words.String()})
	if n := len(r.all("a")); n != 3 {
		t.Errorf("%d entries", n)
	}
	if got := r.hits("number"); got != "a:3" {
		t.Errorf("found is %q", got)
	}
}
