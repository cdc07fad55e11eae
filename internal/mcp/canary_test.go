package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
)

// full is a result that holds a canary in each part.
func full(kind agent.ResultType) agent.Result {
	return agent.Result{TextForModel: "Displayed go.mod to user (50 lines)", Type: kind, Error: "canary-error", SessionLog: "canary-log",
		Binary:    []agent.BinaryResult{{Data: "canary-data", MimeType: "image/png", Type: "image", Description: "canary-description"}},
		Telemetry: &agent.Telemetry{OutputID: "canary-output", OutputType: "file", Bytes: 4711}}
}

// parts returns where a word stands in the raw results that a client was sent: the names of the
// fields from the result on.
func parts(t *testing.T, raw, word string) (where []string) {
	t.Helper()
	for line := range strings.Lines(raw) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatal(err)
		}
		walk(m, "", func(path, value string) {
			if strings.Contains(value, word) {
				where = append(where, path)
			}
		})
	}
	slices.Sort(where)
	return where
}

func walk(v any, path string, f func(path, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			walk(inner, path+"/"+k, f)
		}
	case []any:
		for _, inner := range v {
			walk(inner, path, f)
		}
	case string:
		f(path, v)
	}
}

// What of a result reaches a model was found with six clients: the text always, and each other part
// of a success in some, but _meta in none; of a failure _meta, too.
func TestOnlyTheLineForTheModelIsWhereClientsLook(t *testing.T) {
	for _, era := range eras {
		for kind, want := range map[agent.ResultType][]string{
			agent.Success: {"/result/_meta/webchat/outputId", "/result/_meta/webchat/outputUrl"},
			agent.Failed:  nil, agent.Denied: nil, agent.Rejected: nil,
		} {
			t.Run(era+" "+string(kind), func(t *testing.T) {
				toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) { return full(kind), nil })
				s, sent := connect(t, onHTTP(t, newServer(t, toys, nil)), era, "a", nil)
				res := call(t, s, "show", map[string]any{"path": "go.mod"})
				if got := parts(t, sent.text(), "canary"); !slices.Equal(got, want) {
					t.Errorf("canaries in %v, want them in %v", got, want)
				}
				if got := text(t, res); strings.TrimSuffix(got, ". The user sees it at http://here") != "Displayed go.mod to user (50 lines)" {
					t.Errorf("the model reads %q", got)
				}
				if res.IsError != (kind != agent.Success) || res.StructuredContent != nil {
					t.Errorf("result %+v", res)
				}
				// The newer protocol has each result name its server.
				delete(res.Meta, "io.modelcontextprotocol/serverInfo")
				if kind != agent.Success && len(res.Meta) > 0 {
					t.Errorf("a failure has _meta: %v", res.Meta)
				}
			})
		}
	}
}

// Autohand CLI hands its model each result whole, and an agent in the page needs no more than its
// line: what was shown is known there.
func TestNoMetaWhereAModelWouldReadIt(t *testing.T) {
	show := func(context.Context, agent.ToolCall) (agent.Result, error) { return full(agent.Success), nil }
	server := newServer(t, newToys(show), nil)
	defer server.Host("an agent's", specs(tools), show)()
	url := onHTTP(t, server)
	for key, client := range map[string]string{"a": "autohand", "an agent's": "term"} {
		s, err := mcp.NewClient(&mcp.Implementation{Name: client, Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: &recorder{key: key}}, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: eras[0]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		res := call(t, s, "show", map[string]any{"path": "go.mod"})
		if got := text(t, res); !strings.HasPrefix(got, "Displayed go.mod") || len(res.Meta) > 0 {
			t.Errorf("%s is told %q and %v", client, got, res.Meta)
		}
	}
}

func TestAResultIsNeverEmpty(t *testing.T) {
	for kind, want := range map[agent.ResultType]string{agent.Success: "Done.", agent.Failed: "The tool failed."} {
		toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) { return agent.Result{Type: kind}, nil })
		s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[0], "a", nil)
		if got := text(t, call(t, s, "run", nil)); got != want {
			t.Errorf("an empty %s reads %q, want %q", kind, got, want)
		}
	}
}

func TestWhatClientsAreToldOfTools(t *testing.T) {
	for _, era := range eras {
		url := onHTTP(t, newServer(t, newToys(nil), nil))
		for path, want := range map[string][]string{"": {"run", "show"}, "/w/1": {"read_output", "run", "search_output", "show"}} {
			s, _ := connect(t, url+path, era, "a", nil)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				check(t, tool)
			}
			if !slices.Equal(names, want) {
				t.Errorf("%s offers %v, want %v", path, names, want)
			}
		}
	}
}

func check(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	schema, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	a := tool.Annotations
	switch {
	case strings.Contains(string(schema), "additionalProperties"):
		t.Errorf("%s refuses the properties that clients add: %s", tool.Name, schema)
	case tool.OutputSchema != nil:
		t.Errorf("%s has an output schema", tool.Name)
	case tool.Meta["anthropic/alwaysLoad"] != true:
		t.Errorf("%s has to be searched for: %v", tool.Name, tool.Meta)
	case a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil:
		t.Errorf("%s says nothing of what it does: %+v", tool.Name, a)
	case a.ReadOnlyHint != (tool.Name != "run") || *a.DestructiveHint != (tool.Name == "run") || *a.OpenWorldHint != (tool.Name == "run"):
		t.Errorf("%s says it does something else: %+v", tool.Name, a)
	}
}

func TestPropertiesThatClientsAddAreDropped(t *testing.T) {
	for sent, want := range map[string]string{
		`{"wait_for_previous":true,"path":"go.mod"}`:        `{"path":"go.mod"}`,
		`{"path":"go.mod","more":{"path":"x","deep":[{}]}}`: `{"path":"go.mod"}`,
		`{"path":"a","path":"b","Path":"c"}`:                `{"path":"a","path":"b"}`, // for the tool to refuse
		`{"path":{"deep":"x"}}`:                             `{"path":{"deep":"x"}}`,
		`{}`:                                                `{}`,
	} {
		toys := newToys(func(context.Context, agent.ToolCall) (agent.Result, error) {
			return agent.Result{Type: agent.Success}, nil
		})
		s, _ := connect(t, onHTTP(t, newServer(t, toys, nil)), eras[0], "a", nil)
		call(t, s, "show", json.RawMessage(sent))
		calls, _ := toys.made()
		if len(calls) != 1 || string(calls[0].Arguments) != want {
			t.Errorf("of %s the tool gets %s, want %s", sent, calls[0].Arguments, want)
		}
	}
}
