package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"webchat/internal/canary/scripted"
)

// The last of these in a request decides whether the model talks on and on, until its reader
// leaves, or is brief.
const (
	talkOn  = "Talk on and on."
	beBrief = "Be brief."
)

// mostTalk is when a talking model ends by itself.
const mostTalk = time.Minute

// talking is the address of a model that talks when the last prompt wants that, in the protocol
// of the address, and else answers as model does.
func talking(t *testing.T, model *scripted.Model) string {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var in struct {
			Stream bool
			Tools  []json.RawMessage
		}
		_ = json.Unmarshal(body, &in)
		if !in.Stream || len(in.Tools) == 0 || bytes.LastIndex(body,
			[]byte(talkOn)) <= bytes.LastIndex(body, []byte(beBrief)) {
			model.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		talk(w, r)
	}))
	s.Config.SetKeepAlivesEnabled(false) // nothing of a request stays behind it
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// talk says words, a piece each.
func talk(w http.ResponseWriter, r *http.Request) {
	begin, piece := "",
		`data: {"id":"chat","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"word "},"finish_reason":null}]}`
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages"):
		begin = `data: {"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"output_tokens":1}}}
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		piece = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}`
	case strings.HasSuffix(r.URL.Path, "/responses"):
		begin = `data: {"type":"response.created","sequence_number":0,"response":{"id":"resp","object":"response","status":"in_progress","output":[]}}
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"item","type":"message","role":"assistant","status":"in_progress","content":[]}}`
		piece = `data: {"type":"response.output_text.delta","sequence_number":2,"item_id":"item","output_index":0,"content_index":0,"delta":"word "}`
	}
	end := time.After(mostTalk)
	for line := range strings.Lines(begin) {
		say(w, line)
	}
	for {
		say(w, piece)
		select {
		case <-time.After(20 * time.Millisecond):
		case <-r.Context().Done():
			return
		case <-end:
			return
		}
	}
}

// say sends one event, with its name before it if it has one.
func say(w http.ResponseWriter, line string) {
	line = strings.TrimSpace(line)
	if _, name, ok := strings.Cut(line, `{"type":"`); ok {
		name, _, _ = strings.Cut(name, `"`)
		_, _ = fmt.Fprintf(w, "event: %s\n", name) // the agent may have gone
	}
	_, _ = fmt.Fprintf(w, "%s\n\n", line)
	w.(http.Flusher).Flush()
}
