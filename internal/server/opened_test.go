package server_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"webchat/internal/proc"
)

// hostsOnly is a cage of which hosts can be opened.
type hostsOnly struct{}

func (hostsOnly) Hold(string) (*os.File, error) { return nil, errors.New("a link is there") }

func (hostsOnly) Open(*os.File, proc.Access) (func() error, error) {
	return nil, errors.New("it is gone")
}

func (hostsOnly) HostOf(named string) (string, error) { return named, nil }

func (hostsOnly) OpenHost(string) (func() error, error) {
	return func() error { return nil }, nil
}

func (hostsOnly) Sync() {}

// What is opened is listed by its session until it is closed, for a workspace by each of its
// sessions, and there among the grants.
func TestOpenedIsListedAndClosed(t *testing.T) {
	h := newHouse(t, hostsOnly{})
	_, path := h.session(t)
	opened := func() (all []struct{ ID, Kind, What, Scope, By, Since string }) {
		_, body := h.do("GET", path, "")
		var s struct{ Opened *json.RawMessage }
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		if s.Opened == nil {
			return nil
		}
		if err := json.Unmarshal(*s.Opened, &all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := opened(); all != nil {
		t.Errorf("%+v", all)
	}
	for _, scope := range []string{"session", "workspace", "session"} {
		if res, body := h.do("POST", path+"/opened",
			`{"kind":"host","what":"registry.example:8443","scope":"`+scope+`"}`); res.StatusCode != 201 {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
	all := opened()
	if len(all) != 2 || all[0].Kind != "host" || all[0].What != "registry.example:8443" ||
		all[0].Scope != "session" || all[0].By != "user" || all[0].Since == "" ||
		all[1].Scope != "workspace" {
		t.Fatalf("%+v", all)
	}
	if _, body := h.do("GET", "/api/permissions", ""); !strings.Contains(body,
		"reaching `registry.example:8443`") {
		t.Error(body)
	}
	for _, o := range all {
		if res, body := h.do("DELETE", path+"/opened/"+o.ID, ""); res.StatusCode != 204 {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
	if res, _ := h.do("DELETE", path+"/opened/"+all[0].ID, ""); res.StatusCode != 404 ||
		opened() != nil {
		t.Errorf("%d %+v", res.StatusCode, opened())
	}
	for _, bad := range []string{`{"kind":"path","what":"x","scope":"once"}`,
		`{"kind":"host","what":"x","scope":"ever"}`} {
		if res, body := h.do("POST", path+"/opened", bad); res.StatusCode != 400 {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
}
