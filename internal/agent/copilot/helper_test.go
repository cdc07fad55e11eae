package copilot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/consent"
	"webchat/internal/event"
)

// helps is a prompt upon which the scripted model has a helper do something.
func helps(prompt string) string {
	b, _ := json.Marshal(map[string]string{"description": "look", "prompt": prompt,
		"agent_type": "general-purpose", "mode": "sync", "name": "h"})
	return "call task " + string(b)
}

// What becomes of a helper's calls is reported before they start: its searches leave
// sensitive files out and say so, its large results are cards.
func TestRealHelpersAreLikeTheMainAgent(t *testing.T) {
	ws := plant(t, "a.txt: plain", ".env: canaryb19e55")
	h := newHouseIn(t, ws, consent.ModeAllow, nil)
	s := h.session()
	for range 3 {
		h.ask(s, helps(`call grep {"pattern":"canary|plain","output_mode":"content"}`))
	}
	h.mustSend("Not searched, since they may hold keys or passwords: ", true)
	h.mustSend("canaryb19e55", false)
	h.ask(s, helps(`call bash {"command":"seq 1 20000","description":"count"}`))
	var shown, told int
	for _, d := range h.sofar(s) {
		if d, ok := d.(event.ToolExecutionComplete); ok && d.Result != nil && d.ParentToolCallID != "" {
			if d.OutputID != "" {
				shown++
			}
			if strings.Contains(d.Result.Content, "Not searched") {
				told++
			}
		}
	}
	if shown != 1 || told != 3 {
		t.Errorf("%d cards of large results, %d of 3 searches say what they left out", shown, told)
	}
}
