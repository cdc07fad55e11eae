package released_test

import (
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/released"
)

// What a client reads over MCP is tested there; this is what an agent of a session does.
func TestTools(t *testing.T) {
	var s released.Shelf
	call := func(tool, args string) agent.Result {
		t.Helper()
		for _, x := range s.Tools() {
			if x.Spec().Name != tool {
				continue
			}
			a, err := x.Plan(t.Context(), json.RawMessage(args))
			if err != nil {
				t.Fatal(err)
			}
			if a.Ask != nil || len(a.Digest) != 64 {
				t.Errorf("the plan of %s is %+v", tool, a)
			}
			r, err := a.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		t.Fatalf("there is no tool %s", tool)
		return agent.Result{}
	}
	if r := call(released.ReadOutput, `{}`); r.Type != agent.Failed || r.Kind != event.KindDenied ||
		!strings.Contains(r.TextForModel, "ot released by the user") {
		t.Errorf("before anything was released: %+v", r)
	}
	for range 21 {
		s.Add("old", []byte("old\n"))
	}
	if n := s.Add("go test", []byte("ok a\nFAIL b\n")); n != 22 {
		t.Errorf("the number is %d", n)
	}
	for args, want := range map[string]string{`{}`: "ok a\nFAIL b\n",
		`{"output":"22","lines":"2"}`: "FAIL b\n", `{"output":"3"}`: "old\n"} {
		if r := call(released.ReadOutput, args); r.Type != agent.Success || r.TextForModel != want {
			t.Errorf("%s returns %+v", args, r)
		}
	}
	if r := call(released.SearchOutput, `{"pattern":"^F"}`); r.TextForModel != "2:FAIL b\n" {
		t.Errorf("a search returns %+v", r)
	}
	for args, kind := range map[string]event.ErrorKind{`{"output":"2"}`: event.KindDenied,
		`{"lines":"9-8"}`: event.KindBadArguments} {
		if r := call(released.ReadOutput, args); r.Kind != kind {
			t.Errorf("%s returns %+v", args, r)
		}
	}
	s.Add("big", make([]byte, 9<<20))
	if r := call(released.ReadOutput, `{"output":"22"}`); r.Kind != event.KindDenied {
		t.Errorf("the shelf has no end: %+v", r)
	}
	if _, err := s.Tools()[0].Plan(t.Context(), json.RawMessage(`{"output":1}`)); err == nil {
		t.Error("a number is not a string")
	}
}
