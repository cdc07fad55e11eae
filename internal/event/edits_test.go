package event_test

import (
	"testing"
	"time"

	"webchat/internal/event"
)

// A diff that an agent reported is decoded into edits, in a new event and in one of a log, and is
// encoded as it came.
func TestDiffsAreEdits(t *testing.T) {
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	asked := event.PermissionRequested{RequestID: "r", Diff: diff}
	done := event.ToolExecutionComplete{
		ToolCallID: "c",
		Success:    true,
		Result:     &event.ToolResult{Content: "done", DetailedContent: diff},
	}
	edits := func(d event.Data) []event.Edit {
		switch d := d.(type) {
		case event.PermissionRequested:
			return d.Edits
		case event.ToolExecutionComplete:
			return d.Result.Edits
		}
		return nil
	}
	for _, d := range []event.Data{asked, done} {
		made := event.New(d, "", time.Unix(0, 0))
		b, err := event.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		read, err := event.Unmarshal(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []event.Event{made, read} {
			if all := edits(e.Data); len(all) != 1 || all[0].New != "b/x" || !all[0].Placed() {
				t.Errorf("%s has the edits %+v", e.Type(), all)
			}
		}
		if again, err := event.Marshal(read); err != nil || string(again) != string(b) {
			t.Errorf("%s became %s, %v", b, again, err)
		}
	}
	if done.Result.Edits != nil {
		t.Error("what was given was changed")
	}
	done.Result.DetailedContent = "+++ no diff"
	if all := edits(event.New(done, "", time.Unix(0, 0)).Data); len(all) != 0 {
		t.Errorf("a text has the edits %+v", all)
	}
}
