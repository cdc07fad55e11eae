package server_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/agent/offline"
	"webchat/internal/outputs"
	"webchat/internal/store/storetest"
)

// The list of a session's outputs keeps what is gone in its place, with why.
func TestOutputsThatAreGoneStayListed(t *testing.T) {
	db, backend := storetest.NewMemory(), offline.New(offline.Config{Path: os.Getenv("PATH")})
	h := newHouseOn(t, db, backend)
	_, path := h.session(t)
	show := func(name string) (id string) {
		h.file(name, "a line\n")
		_, body := h.do("POST", path+"/display", `{"tool":"render_file_contents","arguments":{"path":"`+
			name+`"}}`)
		m := regexp.MustCompile(`"id":"(out_\w+)"`).FindStringSubmatch(body)
		if m == nil {
			t.Fatal(body)
		}
		return m[1]
	}
	list := func() string {
		var list struct {
			Outputs []struct {
				ID, Gone string
				Size     int
				Metadata struct{ Path string }
			}
		}
		if text := h.text(t, path+"/outputs"); json.Unmarshal([]byte(text), &list) != nil {
			t.Fatal(text)
		}
		var rows []string
		for _, o := range list.Outputs {
			if o.ID == "" || o.Size != 7 {
				t.Errorf("listed: %+v", o)
			}
			rows = append(rows, strings.TrimSpace(o.Metadata.Path+" "+o.Gone))
		}
		return strings.Join(rows, ", ")
	}
	old, deleted, _ := show("a.txt"), show("b.txt"), show("c.txt")
	again := show("d.txt")
	h.outputs.Drop(outputs.ID(old))
	h.do("DELETE", path+"/outputs/"+deleted, "")
	h.outputs.Drop(outputs.ID(again))
	h.do("POST", path+"/outputs/"+again+"/reread", "")
	if got, want := list(), "a.txt expired, b.txt deleted, c.txt, d.txt"; got != want {
		t.Errorf("listed are %q, want %q", got, want)
	}
	h.stop()
	h = newHouseOn(t, db, backend)
	if got, want := list(), "a.txt restart, b.txt deleted, c.txt restart, d.txt restart"; got != want {
		t.Errorf("after a restart are listed %q, want %q", got, want)
	}
}
