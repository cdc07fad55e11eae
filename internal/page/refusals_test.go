package page_test

import (
	"strings"
	"testing"

	"webchat/internal/event"
)

// refusal is of a path that was to be written to.
func refusal(call, what, folder string) event.SandboxRefused {
	d := event.SandboxRefused{
		ToolCallID: call,
		What:       what,
		Kind:       event.RefusedPath,
		Write:      true,
		Offers:     []event.Offer{event.OfferFile},
		Folder:     folder,
	}
	if folder != "" {
		d.Offers = append(d.Offers, event.OfferFolder)
	}
	d.Offers = append(d.Offers, event.OfferOutside)
	return d
}

// What the sandbox refused stands below its call, with what may be done; more than three are one
// line, and no fold hides any.
func TestRefusalsStandBelowTheirCall(t *testing.T) {
	story := opening()
	for i := range 9 {
		id := "c" + string(rune('0'+i))
		story = append(story, starts(id, "bash", `{"command":"make"}`),
			event.ToolExecutionComplete{
				ToolCallID: id,
				Success:    true,
				Result:     &event.ToolResult{Content: "x"},
			})
		if i == 4 {
			story = append(story, refusal(id, "/home/me/.bashrc", ""),
				refusal(id, "/home/me/.config/relay/last.json", "/home/me/.config/relay"))
		}
	}
	pr := pages(t, 3).Projector("s1")
	pr.Feed(newLog().add(join(story, closing(event.Completed))...).entries...)
	text := pr.Transcript()
	for _, want := range []string{"The sandbox refused writing <code>~/.bashrc</code>",
		`data-open="/home/me/.bashrc"`, "Open ~/.config/relay<kbd>F</kbd>",
		`data-open="/home/me/.config/relay"`} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times %s in %s", strings.Count(text, want), want, text)
		}
	}
	if n := strings.Count(text, "data-outside"); n != 2 {
		t.Errorf("%d of 2 offer to run it outside", n)
	}
	if strings.Contains(foldsOf(t, text), "data-refusal") || strings.Contains(text, "paths") {
		t.Errorf("a refusal is folded away: %s", text)
	}
	story = append(story, event.SandboxOpened{
		ID:    "o1",
		Kind:  event.OpenPath,
		What:  "/home/me/.bashrc",
		Scope: event.ForSession,
		By:    event.DecidedByUser,
	})
	open := pages(t, 3).Projector("s1")
	open.Feed(newLog().add(join(story, closing(event.Completed))...).entries...)
	if text := open.Transcript(); strings.Count(text,
		"Opened <code>~/.bashrc</code> until this session ends") != 1 || strings.Count(text,
		"data-refusal") != 1 {
		t.Errorf("what was opened is still offered: %s", text)
	}
	story = append(story, event.SandboxClosed{ID: "o1", By: event.ClosedByUser})
	for i := range 3 {
		story = append(story, refusal("c4", "/srv/"+string(rune('a'+i)), ""))
	}
	many := pages(t, 3).Projector("s1")
	many.Feed(newLog().add(join(story, closing(event.Completed))...).entries...)
	if text := many.Transcript(); strings.Count(text, "The sandbox refused 5 paths") != 1 ||
		strings.Count(text, "data-refusal") != 5 {
		t.Errorf("more than three are not one line: %s", text)
	}
}
