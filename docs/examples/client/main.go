// Command client is a client of webchat in one file, written from docs/events.md: it
// sends a prompt, answers a permission, has a hook veto a second one, and resumes the
// stream of events where it was.
//
//	WEBCHAT_URL=http://localhost:24287 WEBCHAT_TOKEN=$(webchat token) client [backend]
//
// As "client hook" it is the hook: webchat runs it before a tool call and reads what it
// prints. In config.yaml:
//
//	hooks:
//	  - {event: before_tool, command: "client hook"}
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// Event is one event of the dialect.
type Event struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
}

// The data of those events that this client looks at.
type (
	toolEnd struct {
		ToolName string
		Result   string
		Success  bool
	}
	permissionRequest struct{ RequestID, Tool, Action, Resource string }
	hookInvoked       struct {
		Event, Command string
		ExitCode       int
	}
)

// client knows a server.
type client struct{ url, token string }

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		err = hook(os.Stdin, os.Stdout)
	} else {
		c := client{strings.TrimRight(os.Getenv("WEBCHAT_URL"), "/"), os.Getenv("WEBCHAT_TOKEN")}
		err = c.run(append(os.Args[1:], "")[0], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// hook vetoes calls that are about something forbidden.
func hook(in io.Reader, out io.Writer) error {
	var call struct {
		Event, Tool string
		Arguments   json.RawMessage
	}
	if err := json.NewDecoder(in).Decode(&call); err != nil {
		return err
	}
	verdict := map[string]any{"allow": true}
	if strings.Contains(string(call.Arguments), "forbidden") {
		verdict = map[string]any{"allow": false, "reason": "The client forbids it."}
	}
	return json.NewEncoder(out).Encode(verdict)
}

func (c client) run(backend string, out io.Writer) error {
	var session struct{ ID string }
	if err := c.post("/api/sessions", map[string]string{"backend": backend}, &session); err != nil {
		return err
	}
	// A prompt whose act is allowed.
	last, err := c.turn(out, session.ID, "", "run echo allowed")
	if err != nil {
		return err
	}
	// One that the hook vetoes. The stream goes on after the last event that was seen.
	fmt.Fprintln(out, "it resumes")
	_, err = c.turn(out, session.ID, last, "run echo forbidden")
	return err
}

// turn sends a prompt and follows the events after a place until its turn has ended. It
// returns the place.
func (c client) turn(out io.Writer, session, after, prompt string) (last string, err error) {
	stream, err := c.stream(session, after)
	if err != nil {
		return "", err
	}
	defer stream.Body.Close()
	ended := c.send(session, prompt, stream.Body)
	answered := false
	err = frames(stream.Body, func(id string, e Event) (bool, error) {
		if id != "" {
			last = id
		}
		switch e.Type {
		case "permission_request":
			var p permissionRequest
			if err := json.Unmarshal(e.Data, &p); err != nil {
				return false, err
			}
			fmt.Fprintf(out, "%s asks to %s: %s\n", p.Tool, p.Action, p.Resource)
			answer := map[string]string{"decision": "allow"}
			err := c.post("/api/sessions/"+session+"/permissions/"+p.RequestID, answer, nil)
			if errors.Is(err, errConflict) {
				return false, nil // a rule, a grant or the sandbox decided it
			}
			return false, err
		case "hook_invoked":
			var h hookInvoked
			if err := json.Unmarshal(e.Data, &h); err != nil {
				return false, err
			}
			fmt.Fprintf(out, "hook %s: status %d\n", h.Event, h.ExitCode)
		case "tool_end":
			var t toolEnd
			if err := json.Unmarshal(e.Data, &t); err != nil {
				return false, err
			}
			fmt.Fprintf(out, "%s success=%v: %s\n", t.ToolName, t.Success, t.Result)
			answered = true
		case "message_update":
			if answered { // what it says of it: this client needs no more
				return true, nil
			}
		case "error":
			var failed struct{ Message string }
			if err := json.Unmarshal(e.Data, &failed); err != nil {
				return false, err
			}
			return true, errors.New(failed.Message)
		default:
			fmt.Fprintln(out, e.Type)
		}
		return false, nil
	})
	return last, firstOf(<-ended, err)
}

// send sends a prompt and waits, beside the caller, until its turn has ended. It closes the stream
// if it fails: there is nothing to follow then.
func (c client) send(session, prompt string, stream io.Closer) <-chan error {
	ended := make(chan error, 1)
	go func() {
		err := c.post("/api/sessions/"+session+"/messages?wait=true",
			map[string]string{"content": prompt}, nil)
		ended <- err
		if err != nil {
			stream.Close()
		}
	}()
	return ended
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stream begins to follow a session's events after a place.
func (c client) stream(session, after string) (*http.Response, error) {
	r, err := http.NewRequest(http.MethodGet, c.url+"/api/sessions/"+session+
		"/events?dialect=autohand", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.token)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		defer res.Body.Close()
		return nil, refusal(res)
	}
	return res, nil
}

// frames calls see for each frame until it says that it is enough.
func frames(body io.Reader, see func(id string, e Event) (bool, error)) error {
	lines := bufio.NewReader(body)
	id := ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		if after, ok := strings.CutPrefix(line, "id:"); ok {
			id = strings.TrimSpace(after)
		}
		after, ok := strings.CutPrefix(line, "data:")
		if !ok {
			continue
		}
		var e Event
		if err := json.Unmarshal([]byte(after), &e); err != nil {
			return err
		}
		if enough, err := see(id, e); enough || err != nil {
			return err
		}
		id = ""
	}
}

// post sends JSON and decodes the answer into result unless that is nil.
func (c client) post(path string, body, result any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, c.url+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return refusal(res)
	}
	if result == nil {
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
	return json.NewDecoder(res.Body).Decode(result)
}

// errConflict is the answer 409.
var errConflict = errors.New("the server refused")

// refusal is what the server says of a request that it refuses.
func refusal(res *http.Response) error {
	var said struct{ Error string }
	if err := json.NewDecoder(res.Body).Decode(&said); err != nil || said.Error == "" {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	if res.StatusCode == http.StatusConflict {
		return fmt.Errorf("%w: %s", errConflict, said.Error)
	}
	return fmt.Errorf("the server refused: %s", said.Error)
}
