// Package copilottest is a language model for tests: a server on loopback that
// speaks the OpenAI chat completions protocol (streaming), does what a prompt
// says in a small language, and records every request it gets.
//
// With it the real GitHub Copilot CLI can be tried without network and without
// a login, and what was sent to the model can be looked at byte for byte.
//
// What the last user message of a request begins with decides:
//
//	show PATH            render_file_contents once for each PATH, in one answer
//	run COMMAND          run_and_display
//	image PATH           display_image
//	call TOOL JSON       any tool with these arguments
//	ask QUESTION         ask_user, with the choices red and blue
//	talk                 words for a minute
//	status CODE          the HTTP status CODE instead of an answer
//	cut                  a stream that breaks off after some words
//	think WORDS          reasoning, then WORDS
//	anything else        "You said: ..." in several pieces
//
// After the tools have answered, the model repeats their results.
//
// All methods of a Model may be called concurrently.
//
//	model := copilottest.New(t)
//	// give model.URL() to the program as its provider
//	for _, r := range model.Requests() { ... bytes.Contains(r.Body, canary) ... }
package copilottest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Model is a running server.
type Model struct {
	server *httptest.Server

	mu       sync.Mutex // guards what follows
	requests []Request
	override func(Request) *Reply
	charge   func(Request) (in, out int)
}

// New starts a model that ends with the test.
func New(tb testing.TB) *Model {
	m := &Model{}
	m.server = httptest.NewUnstartedServer(http.HandlerFunc(m.serve))
	m.server.Config.SetKeepAlivesEnabled(false) // nothing of a request stays behind it
	m.server.Start()
	tb.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
	})
	return m
}

// URL is the address to configure as the provider's, with the path /v1.
func (m *Model) URL() string { return m.server.URL + "/v1" }

// Requests returns what was asked so far, in order.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Answer sets who answers; nil from it, or a nil answer, means the language.
func (m *Model) Answer(answer func(Request) *Reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.override = answer
}

// Charge sets what answers cost that do not say it themselves, in tokens.
func (m *Model) Charge(charge func(Request) (in, out int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.charge = charge
}

// Request is one call of the model.
type Request struct {
	Path     string // with its query
	Header   http.Header
	Body     []byte // exactly as it came
	Model    string
	Messages []Message
	Tools    []Tool
}

// Message is one of a request's messages.
type Message struct {
	Role    string
	Content string // the text of all its parts
	Parts   []string
}

// Tool is a tool as it is offered to the model.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Offered are the names of the tools the model could choose from.
func (r Request) Offered() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// Prompt is the last user message, without what the program put before it.
func (r Request) Prompt() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return clean(m.Content)
		}
	}
	return ""
}

// clean takes out the blocks in angle brackets that a program adds.
func clean(s string) string {
	for {
		s = strings.TrimPrefix(strings.TrimSpace(s), "[[PLAN]] ") // of prompts in plan mode
		tag, _, ok := strings.Cut(strings.TrimPrefix(s, "<"), ">")
		if !ok || !strings.HasPrefix(s, "<") {
			break
		}
		_, after, ok := strings.Cut(s, "</"+tag+">")
		if !ok {
			break
		}
		s = after
	}
	if before, _, ok := strings.Cut(s, "\n<"); ok { // such as a reminder
		s = strings.TrimSpace(before)
	}
	return s
}

// results are those of tools that came after the last user message.
func (r Request) results() (texts []string) {
	for _, m := range slices.Backward(r.Messages) {
		switch m.Role {
		case "tool":
			texts = append(texts, m.Content)
		case "user":
			slices.Reverse(texts)
			return texts
		}
	}
	return texts
}

func (m *Model) serve(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // the program went away
	}
	r := decode(body)
	r.Path, r.Header = hr.URL.RequestURI(), hr.Header.Clone()
	m.mu.Lock()
	m.requests = append(m.requests, r)
	override, charge, n := m.override, m.charge, len(m.requests)
	m.mu.Unlock()
	var reply *Reply
	if override != nil {
		reply = override(r)
	}
	if reply == nil {
		reply = obey(r)
	}
	if charge != nil && reply.In == 0 {
		reply.In, reply.Out = charge(r)
	}
	reply.write(w, hr, r.Model, n)
}

func decode(body []byte) Request {
	r := Request{Body: body}
	var wire struct {
		Model    string
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []struct{ Function Tool }
	}
	if json.Unmarshal(body, &wire) != nil {
		return r
	}
	r.Model = wire.Model
	for _, t := range wire.Tools {
		r.Tools = append(r.Tools, t.Function)
	}
	for _, m := range wire.Messages {
		msg := Message{Role: m.Role}
		var parts []struct{ Type, Text string }
		if json.Unmarshal(m.Content, &msg.Content) != nil && json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				msg.Parts = append(msg.Parts, p.Type)
				msg.Content += p.Text
			}
		}
		r.Messages = append(r.Messages, msg)
	}
	return r
}
