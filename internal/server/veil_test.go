package server_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// secret is what looks like one, without being it.
const secret = "hunter2" + "hunter2"

// What is saved of a session for people, and what a replay of it shows, has dots where a prompt, an
// answer, a call, what came of it, or an output holds a secret, and nothing that would lift them.
// The lines of the log are for programs, and have it.
func TestVeiledFiles(t *testing.T) {
	h := newHouse(t)
	h.file("deploy.yaml", "host: db.example\npassword: "+secret+"\nregion: eu\n")
	_, path := h.session(t)
	h.do("PATCH", path, `{"title":"Why is token=`+secret+` refused"}`)
	h.posted(t, path+"/display", `{"tool":"render_file_contents","arguments":{"path":"deploy.yaml"}}`)
	h.say(t, path, "show me no.txt?token="+secret)
	h.say(t, path, "Is `API_TOKEN="+secret+"` right?\n\n    password: "+secret+"\n")
	h.posted(t, path+"/display", `{"tool":"run_and_display","arguments":{"command":"echo API_TOKEN=`+
		secret+`"}}`)
	if _, log := h.do("GET", path+"/export?format=jsonl", ""); !strings.Contains(log, secret) {
		t.Error("the log has no secret")
	}
	for _, address := range []string{path + "/export?format=html", path + "/export?format=md",
		strings.TrimPrefix(path, "/api") + "/replay"} {
		res, body := h.do("GET", address, "")
		if name := res.Header.Get("Content-Disposition"); strings.Contains(name, "hunter2") {
			t.Errorf("%s is called %s", address, name)
		}
		for at, rest := 0, body; ; {
			i := strings.Index(rest[at:], "hunter2")
			if i < 0 {
				break
			}
			at += i
			t.Errorf("%s has …%s…", address, rest[max(0, at-150):min(len(rest), at+50)])
			at++
		}
		if !strings.Contains(body, "••••") || strings.Contains(body, "Show it") {
			t.Errorf("%s has no dots, or offers to lift them", address)
		}
	}
}

// Hits of a search have no more than is seen, also where the lines around them are those of a key.
func TestVeiledSearch(t *testing.T) {
	h := newHouse(t)
	key := strings.Repeat("MIIEvQIBADANBgkq\n", 6)
	h.file("notes.md", "the needle\npassword: "+secret+"\n\n-----BEGIN PRIVATE KEY-----\n"+key+
		"-----END PRIVATE KEY-----\nneedle\n")
	id, session := h.session(t)
	h.posted(t, session+"/display", `{"tool":"render_file_contents","arguments":{"path":"notes.md"}}`)
	for _, where := range []string{"", "&session=" + id} {
		for _, q := range []string{"needle", "hunter2"} {
			_, body := h.do("GET", "/api/search?q="+url.QueryEscape(q)+where, "")
			if strings.Contains(body, "hunter2") || strings.Contains(body, "MIIEvQ") || q == "needle" &&
				!strings.Contains(body, "•••") {
				t.Errorf("%s: %s", q+where, body)
			}
		}
	}
}

// An agent that shows a file whose content looks like a secret is asked about, and the card says
// why, without it. What the user opens has dots.
func TestThreat46AgentsShowWhatHoldsASecret(t *testing.T) {
	h := newHouse(t)
	h.file("deploy.yaml", "host: db.example\npassword: "+secret+"\n")
	id, path := h.session(t)
	h.posted(t, path+"/display", `{"tool":"render_file_contents","arguments":{"path":"deploy.yaml"}}`)
	r := h.open(t, "GET", path+"/events", "")
	h.do("POST", path+"/messages", `{"content":"show me deploy.yaml"}`)
	asked := r.until("permission.requested")
	var e struct {
		Data struct {
			RequestID, Why string
			Secret         struct{ File, Looks string }
		}
	}
	if err := json.Unmarshal([]byte(asked[len(asked)-1].data), &e); err != nil {
		t.Fatal(err)
	}
	if got := e.Data.Secret; got.File != "deploy.yaml" ||
		got.Looks != "holds what looks like a key or password" ||
		!strings.Contains(e.Data.Why, got.Looks) {
		t.Errorf("%+v", e.Data)
	}
	_, page := h.do("GET", "/sessions/"+id, "")
	if !strings.Contains(page, "deploy.yaml holds what looks like a key or password") ||
		strings.Contains(page, "hunter2") {
		t.Error("the page does not say why it asks, or shows the secret")
	}
	h.do("POST", path+"/permissions/"+e.Data.RequestID, `{"decision":"deny"}`)
	r.until("turn.end")
}
