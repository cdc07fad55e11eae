package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// A session branches at a prompt into a new one, which begins with everything before it,
// and goes back to before one; a prompt that is not there is not found.
func TestBranchAndRewind(t *testing.T) {
	h := newHouse(t)
	_, path := h.session(t)
	var prompts []struct{ MessageID string }
	for _, text := range []string{"first words", "second words"} {
		res, body := h.do("POST", path+"/messages?wait=true", `{"content":"`+text+`"}`)
		var sent struct{ MessageID string }
		if err := json.Unmarshal([]byte(body), &sent); res.StatusCode != 200 || err != nil {
			t.Fatalf("%d %s %v", res.StatusCode, body, err)
		}
		prompts = append(prompts, sent)
	}
	res, body := h.do("POST", path+"/branch", `{"messageId":"`+prompts[1].MessageID+`"}`)
	made := res.Header.Get("Location")
	if res.StatusCode != 201 || made == "" || made == path {
		t.Fatalf("%d %s, at %q", res.StatusCode, body, made)
	}
	if _, log := h.do("GET", made+"/events", ""); !strings.Contains(log, "first words") ||
		strings.Contains(log, "second words") || !strings.Contains(log, `"session.branched"`) {
		t.Errorf("the branch begins with %.600s", log)
	}
	if _, log := h.do("GET", path+"/events", ""); !strings.Contains(log, "second words") {
		t.Error("the session that was branched has changed")
	}
	if res, body := h.do("POST", path+"/rewind", `{"messageId":"`+prompts[1].MessageID+
		`"}`); res.StatusCode != 200 {
		t.Errorf("going back: %d %s", res.StatusCode, body)
	}
	if _, log := h.do("GET", path+"/events", ""); !strings.Contains(log, `"toMessageId":"`+
		prompts[1].MessageID+`"`) {
		t.Error("the log does not say from where it was gone back")
	}
	for _, route := range []string{"/branch", "/rewind"} {
		if res, body := h.do("POST", path+route, `{"messageId":"none"}`); res.StatusCode != 404 {
			t.Errorf("%s at a prompt that is not there: %d %s", route, res.StatusCode, body)
		}
	}
}
