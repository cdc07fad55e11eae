package server_test

import (
	"regexp"
	"strings"
	"testing"
)

// An upload that may hold secrets by its name or content goes after the user said so, as a file of
// the workspace does, and one that holds the API token never.
func TestUploadsThatMayHoldSecrets(t *testing.T) {
	h := newHouse(t)
	_, session := h.session(t)
	if res, body := h.do("POST", session+"/attachments?name=notes.txt", "key: "+
		h.guard.Token()); res.StatusCode != 400 || !strings.Contains(body, "webchat's API token") {
		t.Errorf("an upload with the token: %s %s", res.Status, body)
	}
	upload := func(name, text string) (id, looks string) {
		_, body := h.do("POST", session+"/attachments?name="+name, text)
		m := regexp.MustCompile(`"id":"(up_\w+)"`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%s: %s", name, body)
		}
		if looks := regexp.MustCompile(`"sensitive":true,"looks":"([^"]+)"`).FindStringSubmatch(
			body); looks != nil {
			return m[1], looks[1]
		}
		return m[1], ""
	}
	for name, want := range map[string]string{".env": "may hold secrets",
		"server.key": "may hold secrets", "main.go": "",
		"notes.txt": "holds what looks like a key or password"} {
		text := "A=1\n"
		if name == "notes.txt" {
			text = "password: hunter2-hunter2\n"
		}
		id, looks := upload(name, text)
		if looks != want {
			t.Errorf("%s %q, want %q", name, looks, want)
		}
		send := func(more string) (int, string) {
			res, body := h.do("POST", session+"/messages", `{"content":"read","attachments":[{"id":"`+id+
				`","name":"`+name+`"`+more+`}]}`)
			return res.StatusCode, body
		}
		if code, body := send(""); (code == 400 && strings.Contains(body, name+": it "+
			want)) != (want != "") {
			t.Errorf("%s: %d %s", name, code, body)
		}
		if code, body := send(`,"sensitive":true`); code != 202 {
			t.Errorf("%s that is to go: %d %s", name, code, body)
		}
	}
}
