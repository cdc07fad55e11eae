package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostHeard is how many bytes of what a server says are kept until its tools are known.
const mostHeard = 32 << 20

// heard keeps what a server says, as it came: what the SDK reads of it lacks the fields that it
// does not know, and agents may hand those to their models. Its methods may be called concurrently.
type heard struct {
	mu    sync.Mutex
	all   []*recorded
	bytes int
}

// recorded is one stream of messages, while it is read.
type recorded struct {
	io.ReadCloser
	of     *heard
	events bool // as text/event-stream
	text   bytes.Buffer
}

// stream returns messages that are kept as they are read.
func (h *heard) stream(r io.ReadCloser) io.ReadCloser { return h.add(r, "") }

func (h *heard) add(r io.ReadCloser, contentType string) *recorded {
	one := &recorded{ReadCloser: r, of: h, events: strings.HasPrefix(contentType, "text/event-stream")}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, one)
	return one
}

func (r *recorded) Read(b []byte) (int, error) {
	n, err := r.ReadCloser.Read(b)
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.of.bytes += n; r.of.bytes > mostHeard {
		return 0, errors.New("it says too much about its tools")
	}
	r.text.Write(b[:n])
	return n, err
}

// response has the messages of a response kept.
func (h *heard) response(r *http.Response) {
	r.Body = h.add(r.Body, r.Header.Get("Content-Type"))
}

// said returns the tools that a server listed, in the order of their pages, and what it said of
// itself.
func (h *heard) said() (tools, self []jsontext.Value) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.all {
		for _, message := range r.messages() {
			var m struct {
				Result struct {
					Tools      []jsontext.Value          `json:"tools"`
					ServerInfo jsontext.Value            `json:"serverInfo"`
					Meta       map[string]jsontext.Value `json:"_meta"`
				} `json:"result"`
			}
			if json.Unmarshal(message, &m) != nil { // the SDK does not take it either
				continue
			}
			tools = append(tools, m.Result.Tools...)
			self = append(self, m.Result.ServerInfo, m.Result.Meta[mcp.MetaKeyServerInfo])
		}
	}
	return tools, slices.DeleteFunc(self, func(v jsontext.Value) bool { return len(v) == 0 })
}

// messages are those of a stream that came whole.
func (r *recorded) messages() (all []json.RawMessage) {
	if !r.events {
		for dec := json.NewDecoder(&r.text); ; {
			var one json.RawMessage
			if dec.Decode(&one) != nil {
				return all
			}
			all = append(all, one)
		}
	}
	var data []byte
	for line := range strings.Lines(r.text.String()) {
		line = strings.TrimRight(line, "\r\n")
		if part, ok := strings.CutPrefix(line, "data:"); ok {
			data = append(append(data, part...), '\n')
		}
		if line == "" && len(data) > 0 {
			all, data = append(all, data), nil
		}
	}
	return all
}
