package autohand_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/autohand"
)

// model is a language model on loopback that does what the last prompt says.
type model struct {
	mu      sync.Mutex // guards what follows
	offered []string   // by the last request
	sent    strings.Builder
	n       int
}

type object = map[string]any

type turnOfModel struct {
	Role    string
	Content json.RawMessage
}

// prompt is what the user said last.
func (m *model) prompt(all []turnOfModel) string {
	for _, one := range slices.Backward(all) {
		if one.Role == "user" {
			_, said, _ := strings.Cut(string(one.Content), "Instruction: ")
			return said
		}
	}
	return ""
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Messages []turnOfModel
		Tools    []struct{ Function struct{ Name string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		http.Error(w, "not understood", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.offered = nil
	for _, t := range q.Tools {
		m.offered = append(m.offered, t.Function.Name)
	}
	m.n++
	n := m.n
	last := q.Messages[len(q.Messages)-1]
	for _, one := range q.Messages {
		m.sent.Write(one.Content)
	}
	m.mu.Unlock()
	said := object{"role": "assistant", "content": "It is done."}
	finish := "stop"
	if last.Role == "user" {
		text := string(last.Content)
		_ = json.Unmarshal(last.Content, &text)
		if _, after, ok := strings.Cut(text, "Instruction: "); ok {
			text = after
		}
		verb, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		call := func(tool string, args object) {
			b, _ := json.Marshal(args)
			finish = "tool_calls"
			said["content"] = ""
			said["tool_calls"] = []object{{"id": "call_" + string(rune('a'+n%26)), "type": "function",
				"function": object{"name": tool, "arguments": string(b)}}}
		}
		switch verb {
		case "show":
			call("mcp__webchat__render_file_contents", object{"path": rest})
		case "run":
			call("mcp__webchat__run_and_display", object{"command": rest})
		case "write":
			call("write_file", object{"path": rest, "contents": "new\n"})
		case "read":
			call("read_file", object{"path": rest})
		case "shell":
			call("run_command", object{"command": rest})
		case "ask":
			call("ask_followup_question", object{"question": "Which colour?"})
		case "talk":
			call("tool_search", object{"query": "word"})
			said["content"] = "word "
		default:
			said["content"] = "I heard you."
		}
	} else if strings.Contains(m.prompt(q.Messages), "talk") {
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	} else if last.Role == "tool" {
		said["content"] = "It said: " + string(last.Content)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"id": "c", "object": "chat.completion", "model": "fake",
		"choices": []object{{"index": 0, "message": said, "finish_reason": finish}},
		"usage":   object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}})
}

// real is a backend with the CLI that WEBCHAT_TEST_AUTOHAND names, and its model.
func real(t *testing.T) (*autohand.Backend, *model) {
	t.Helper()
	path := os.Getenv("WEBCHAT_TEST_AUTOHAND")
	if path == "" {
		t.Skip("WEBCHAT_TEST_AUTOHAND names no Autohand CLI, so the real one is not tried")
	}
	m := &model{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	b, _ := newBackend(t, "", func(c *autohand.Config) {
		c.Path = path
		c.Provider = &autohand.Provider{URL: server.URL + "/v1", Model: "fake"}
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AUTOHAND_API_URL=" +
			server.URL, "AUTOHAND_AUTH_API_URL=" + server.URL, "GORACE=atexit_sleep_ms=0"}
	})
	return b, m
}

func TestRealContract(t *testing.T) {
	b, m := real(t)
	agenttest.Run(t, b, agenttest.Options{
		Show:   func(path string) string { return "show " + path },
		Run:    func(command string) string { return "run " + command },
		Answer: "hello", Talk: "talk", Ask: "ask",
		Write: func(path string) string { return "write " + path },
		Cannot: map[string]string{"WriteTwo": "a call of the CLI's tools changes one file, or a source " +
			"and a target",
			"Search": "the CLI's searches are tried with what they ask for",
			"Forge":  "the CLI names a tool by its registration"},
		Offered: func(tb testing.TB) []string {
			h := agenttest.NewHost(agenttest.DisplayTools()) // a model is offered tools with a prompt
			conn, err := b.Open(tb.Context(), agent.Options{SessionID: "offers", Workspace: tb.TempDir()}, h)
			if err != nil {
				tb.Fatal(err)
			}
			h.Begin()
			if err := errors.Join(conn.Prompt(tb.Context(), agent.Prompt{Content: "hello"}),
				conn.Close()); err != nil {
				tb.Fatal(err)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			var names []string
			for _, n := range m.offered {
				names = append(names, strings.TrimPrefix(n, "mcp__webchat__"))
			}
			return names
		},
		Patience: 90 * time.Second,
	})
}

// The CLI runs nothing of a workspace by itself, and its settings allow nothing.
func TestRealHostileWorkspace(t *testing.T) {
	b, m := real(t)
	withstands(t, b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.Contains(m.sent.String(), "ultramarine") {
		t.Error("the file was read into the context")
	}
}
