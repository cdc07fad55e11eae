package main

import (
	"encoding/json"
	"net/http"

	"github.com/rogpeppe/go-internal/testscript"

	"webchat/internal/event"
)

// asked waits until a session asks for leave and sets REQ to the question's id.
func asked(ts *testscript.TestScript, _ bool, args []string) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	eventually(ts, "a question", func() bool {
		r, err := http.NewRequest(http.MethodGet, ts.Getenv("URL")+"/api/sessions/"+args[0]+
			"/events?limit=5000", nil)
		ts.Check(err)
		r.Header.Set("Authorization", "Bearer "+ts.Getenv("TOKEN"))
		res, err := client.Do(r)
		ts.Check(err)
		defer res.Body.Close()
		var log struct{ Events []json.RawMessage }
		ts.Check(json.NewDecoder(res.Body).Decode(&log))
		open := ""
		for _, b := range log.Events {
			e, err := event.Unmarshal(b)
			ts.Check(err)
			switch d := e.Data.(type) {
			case event.PermissionRequested:
				open = d.RequestID
			case event.PermissionCompleted:
				open = ""
			}
		}
		ts.Setenv("REQ", open)
		return open != ""
	})
}
