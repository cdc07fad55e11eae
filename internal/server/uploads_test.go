package server_test

import (
	"regexp"
	"strings"
	"testing"
)

// An upload that may hold secrets by its name goes after the user said so, as a file of the
// workspace does, and one that holds the API token never.
func TestUploadsThatMayHoldSecrets(t *testing.T) {
	h := newHouse(t)
	_, session := h.session(t)
	if res, body := h.do("POST", session+"/attachments?name=notes.txt", "key: "+h.guard.Token()); res.StatusCode != 400 || !strings.Contains(body, "webchat's API token") {
		t.Errorf("an upload with the token: %s %s", res.Status, body)
	}
	upload := func(name string) (id string, sensitive bool) {
		_, body := h.do("POST", session+"/attachments?name="+name, "A=1\n")
		m := regexp.MustCompile(`"id":"(up_\w+)"`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%s: %s", name, body)
		}
		return m[1], strings.Contains(body, `"sensitive":true`)
	}
	for name, want := range map[string]bool{".env": true, "server.key": true, "main.go": false} {
		id, sensitive := upload(name)
		if sensitive != want {
			t.Errorf("%s may hold secrets: %v", name, sensitive)
		}
		send := func(more string) (int, string) {
			res, body := h.do("POST", session+"/messages", `{"content":"read","attachments":[{"id":"`+id+`","name":"`+name+`"`+more+`}]}`)
			return res.StatusCode, body
		}
		if code, body := send(""); (code == 400 && strings.Contains(body, name+": it may hold secrets")) != want {
			t.Errorf("%s: %d %s", name, code, body)
		}
		if code, body := send(`,"sensitive":true`); code != 202 {
			t.Errorf("%s that is to go: %d %s", name, code, body)
		}
	}
}
