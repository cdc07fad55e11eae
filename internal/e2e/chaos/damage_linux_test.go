package chaos

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDamagedEvents: of a session with damaged events everything else is there, in the
// page, the API and each export, with a row that says how many are missing and where
// their copy is; the list says it, too, and the session goes on.
func TestDamagedEvents(t *testing.T) {
	s := newServer(t)
	s.up()
	id := s.session()
	for i := range 3 {
		s.do("POST", "/api/sessions/"+id+"/messages?wait=true",
			fmt.Sprintf(`{"content":"prompt number %d"}`, i))
	}
	s.end(syscall.SIGTERM)
	before := s.damage(id)
	s.up()
	s.untilListed(`"damaged":2`)
	path, copied := "/api/sessions/"+id, "damaged-events/"+id+".jsonl"
	if got := s.get("/sessions"); !strings.Contains(got, "2 damaged events") {
		t.Error("the list of the page does not say that the session has damage")
	}
	log := s.logOf(id)
	for i, was := range before {
		if bad := i == 5 || i == 6; (log[i].Type == "session.damaged") != bad || !bad &&
			log[i].Raw != was {
			t.Errorf("event %d is %s, was %s", i+1, log[i].Raw, was)
		}
	}
	for name, got := range map[string]string{"the page": s.get("/sessions/" + id),
		"HTML":       s.get(path + "/export?format=html"),
		"Markdown":   s.get(path + "/export?format=md"),
		"JSON lines": s.get(path + "/export?format=jsonl")} {
		if !strings.Contains(got, "prompt number 0") || !strings.Contains(got, "prompt number 2") ||
			!strings.Contains(got, copied) {
			t.Errorf("%s lacks prompts or does not say where the copy is", name)
		}
		if html := name == "the page" || name == "HTML"; html &&
			!strings.Contains(got, "2 damaged events could not be read here") {
			t.Errorf("%s does not say how many are missing", name)
		}
	}
	s.do("POST", path+"/messages?wait=true", `{"content":"prompt after the damage"}`)
	if got := s.prompts(id); got[len(got)-1] != "prompt after the damage" {
		t.Errorf("the prompts are %q", got)
	}
}

// damage spoils events 6 and 7 of a session, and returns its log as it was.
func (s *server) damage(id string) (log []string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.data, "webchat.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(
		`SELECT e.json FROM sessions s JOIN events e ON e.at >> 32 = s.key WHERE s.id = ? ORDER BY e.at`,
		id)
	if err != nil {
		s.t.Fatal(err)
	}
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			s.t.Fatal(err)
		}
		log = append(log, text)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(log) < 10 {
		s.t.Fatalf("%d events, %v", len(log), err)
	}
	if _, err := db.Exec(
		`DROP TRIGGER events_stay; UPDATE events SET json = substr(json, 2) WHERE at & 0xffffffff IN (6, 7) AND at >> 32 = (SELECT key FROM sessions WHERE id = ?)`, id); err != nil {
		s.t.Fatal(err)
	}
	return log
}

// untilListed waits until the list of sessions holds a text.
func (s *server) untilListed(text string) {
	s.t.Helper()
	late := time.After(patience)
	for !strings.Contains(s.get("/api/sessions"), text) {
		select {
		case <-late:
			s.t.Fatalf("the list never holds %s: %s", text, s.get("/api/sessions"))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
