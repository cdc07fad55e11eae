package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDoctorOnline: each model is asked as its provider's protocol has it, for as little
// as that allows, and what comes is said without the key.
func TestDoctorOnline(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(b, &body); err != nil {
			t.Errorf("asked with %q", b)
		}
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("Api-Key") +
			r.Header.Get("X-Api-Key")
		limit, ok := body["max_tokens"].(float64)
		if !ok {
			limit, _ = body["max_output_tokens"].(float64)
		}
		asked = append(asked, strings.Join([]string{r.RequestURI, key, r.Header.Get("X-Team"),
			body["model"].(string)}, " "))
		switch {
		case limit < 1 || limit > 16:
			t.Errorf("asked for %v tokens", limit)
		case body["model"] == "locked":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"Incorrect key: secret-key."}}`)
		case body["model"] == "gone":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"model not found"}`)
		case body["model"] == "page":
			_, _ = io.WriteString(w, "<html>")
		default:
			_, _ = io.WriteString(w, `{"choices":[]}`)
		}
	}))
	defer srv.Close()
	file := `
providers:
  a: {type: openai, url: "URL/v1", key_env: KEY, headers: {X-Team: pumps}, models: [small, locked, gone, page]}
  b: {type: openai-responses, url: "URL/v1", models: [r]}
  c: {type: azure, url: URL, key_env: KEY, api_version: "2025", models: [d]}
  d: {type: azure, url: URL, key_env: KEY, models: [d]}
  e: {type: anthropic, url: URL, key_env: KEY, models: [claude]}
  f: {type: ollama, url: URL, models: [llama]}
`
	c, err := parseConfig([]byte(strings.ReplaceAll(file, "URL", srv.URL)))
	if err != nil {
		t.Fatal(err)
	}
	o := &options{env: []string{"KEY=secret-key"}}
	var said []string
	err = checkup{options: o, c: c, say: func(what, format string, args ...any) {
		line := strings.TrimSpace(what + " " + fmt.Sprintf(format, args...))
		before, _, _ := strings.Cut(line, ", after ")
		said = append(said, before)
	}}.online(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asked, []string{"/v1/chat/completions secret-key pumps small",
		"/v1/chat/completions secret-key pumps locked", "/v1/chat/completions secret-key pumps gone",
		"/v1/chat/completions secret-key pumps page", "/v1/responses   r",
		"/openai/deployments/d/chat/completions?api-version=2025 secret-key  d",
		"/openai/v1/chat/completions secret-key  d", "/v1/messages secret-key  claude",
		"/v1/chat/completions   llama"}); diff != "" {
		t.Errorf("the models were asked (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(said, []string{"online a/small: answers",
		"online a/locked: 401 Unauthorized: the key is not accepted. Incorrect key: ….",
		"online a/gone: 404 Not Found: check the url and the model's name. model not found",
		"online a/page: what answers at " + srv.URL +
			"/v1 is not a model: its answer is not JSON. Check the url",
		"online b/r: answers", "online c/d: answers", "online d/d: answers", "online e/claude: answers",
		"online f/llama: answers"}); diff != "" {
		t.Errorf("it said (-got +want):\n%s", diff)
	}
}
