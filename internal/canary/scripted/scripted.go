// Package scripted is a language model on loopback that calls tools by a script, one in each
// answer, and then reports that it is done. It keeps the requests it gets.
//
// It speaks as much as agents need of four protocols: OpenAI's chat completions and
// responses, Anthropic's messages, and Gemini's generateContent, each as a stream and as
// one answer. So a real agent can be tried without a network and without a login, and
// what it sends to its model can be looked at byte for byte.
//
// All methods of a Model may be called concurrently.
//
//	m, err := scripted.New(ctx)
//	defer m.Close()
//	m.Play(scripted.Step{Tool: "render_file_contents", Arguments: `{"path":"go.mod"}`})
//	// start the agent with m.URL() as its provider's address, and prompt it
//	for _, body := range m.Requests() { ... }
package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Step is a call the model makes.
type Step struct {
	Tool      string // the end of its name: agents put the server's before it
	Arguments string // a JSON object
}

// Model is a running model.
type Model struct {
	url    string
	server *http.Server
	served chan error

	mu       sync.Mutex // guards what follows
	steps    []Step
	requests [][]byte
}

// New starts a model that has nothing to do yet.
func New(ctx context.Context) (*Model, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as a model: %w", err)
	}
	m := &Model{url: "http://" + l.Addr().String(), served: make(chan error, 1)}
	m.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: m}
	m.server.SetKeepAlivesEnabled(false) // nothing of a request stays behind it
	go func() { m.served <- m.server.Serve(l) }()
	return m, nil
}

// Close ends the model.
func (m *Model) Close() error {
	err := m.server.Close()
	if e := <-m.served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// URL is the model's address, without a path.
func (m *Model) URL() string { return m.url }

// Play sets the calls the model makes from now on.
func (m *Model) Play(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = steps
}

// Requests returns the bodies of all requests so far, in order.
func (m *Model) Requests() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// request is what is read of a request, in any of the protocols.
type request struct {
	Model  string
	Stream bool
	Tools  []tool
}

type tool struct {
	Type, Name           string
	Function             *tool  // OpenAI's
	Tools                []tool // of a namespace
	FunctionDeclarations []tool // Gemini's
	Parameters           schema
	InputSchema          schema `json:"input_schema"` // Anthropic's
	ParametersJSONSchema schema // Gemini's
}

// schema is what is read of a schema of arguments.
type schema struct {
	Properties map[string]json.RawMessage
}

// name is the tool's, wherever its protocol has it.
func (t tool) name() string {
	if t.Function != nil {
		return t.Function.Name
	}
	return t.Name
}

// call is a call as the model makes it.
type call struct{ id, space, name, arguments string }

// find returns the offered tool whose name ends so.
func find(tools []tool, space, end string) (call, bool) {
	for _, t := range tools {
		name := t.name()
		if t.Type == "namespace" {
			if c, ok := find(t.Tools, name, end); ok {
				return c, true
			}
			continue
		}
		if c, ok := find(t.FunctionDeclarations, space, end); ok {
			return c, true
		}
		if name == end || strings.HasSuffix(name, "_"+end) || strings.HasSuffix(name, "-"+end) {
			return call{space: space, name: name}, true
		}
	}
	return call{}, false
}

// next is the call that answers a request, if it is one that offers the tool: agents
// ask their model for other things, too, such as a title.
func (m *Model) next(r request, body []byte) (c call, number int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, body)
	number = len(m.requests)
	if len(m.steps) == 0 {
		return c, number, false
	}
	if c, ok = find(r.Tools, "", m.steps[0].Tool); !ok {
		return c, number, false
	}
	c.id, c.arguments = fmt.Sprintf("call_%d", number), m.steps[0].Arguments
	m.steps = m.steps[1:]
	return c, number, true
}

// Offered returns the tools that the last request which had some offered: the names of their
// arguments, by their own.
func (m *Model) Offered() map[string][]string {
	offered := map[string][]string{}
	for _, body := range slices.Backward(m.Requests()) {
		var r request
		if json.Unmarshal(body, &r) == nil && len(r.Tools) > 0 {
			offer(r.Tools, offered)
			break
		}
	}
	return offered
}

func offer(tools []tool, to map[string][]string) {
	for _, t := range tools {
		if t.Function != nil {
			t = *t.Function
		}
		if t.Name != "" {
			to[t.Name] = nil
			for _, s := range []schema{t.Parameters, t.InputSchema, t.ParametersJSONSchema} {
				to[t.Name] = slices.AppendSeq(to[t.Name], maps.Keys(s.Properties))
			}
		}
		offer(t.Tools, to)
		offer(t.FunctionDeclarations, to)
	}
}

// ServeHTTP answers a request.
func (m *Model) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(io.LimitReader(hr.Body, 32<<20))
	var r request
	if err != nil || hr.Method != http.MethodPost || json.Unmarshal(body, &r) != nil {
		http.Error(w, `{"error":{"message":"not understood"}}`, http.StatusNotFound)
		return
	}
	path := hr.URL.Path
	if strings.HasSuffix(path, "count_tokens") || strings.HasSuffix(path, ":countTokens") {
		send(w, object{"input_tokens": 100, "totalTokens": 100})
		return
	}
	c, number, calls := m.next(r, body)
	a := answer{
		w:      w,
		id:     fmt.Sprintf("_%d", number),
		c:      c,
		calls:  calls,
		model:  r.Model,
		stream: r.Stream,
	}
	switch {
	case strings.HasSuffix(path, "/messages"):
		a.messages()
	case strings.HasSuffix(path, "/responses"):
		a.responses()
	case strings.Contains(path, "enerateContent"):
		a.stream = strings.HasSuffix(path, ":streamGenerateContent")
		a.gemini()
	default:
		a.chat()
	}
}
