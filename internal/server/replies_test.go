package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"webchat/internal/wording"
)

// What an MCP server says of itself is shown with nothing hidden in it.
func TestNothingHidesInMCPServers(t *testing.T) {
	const hostile = "a\x1b[31m\u009b\u202e\u200bz"
	got := MCPServers{Servers: []MCPServer{{
		Name:    "mine",
		Where:   hostile,
		Tools:   []MCPTool{{Name: hostile}},
		Failure: hostile,
	}}, Dear: hostile}.shown()
	server := got.Servers[0]
	for _, text := range []string{got.Dear, server.Where, server.Failure, server.Tools[0].Shown} {
		if strings.ContainsFunc(text, wording.Hides) || !strings.Contains(text, "⟨U+202E⟩") {
			t.Errorf("%q", text)
		}
	}
}

// A reply holds no character as it is that hides or that a terminal obeys, and says the same.
func TestRepliesAreEscaped(t *testing.T) {
	for _, text := range []string{"plain", "a\x1b[31m\u009b\u202e\u200b\u2028\x7f\U000E0041z",
		"two\nlines\t👨\u200d👩"} {
		w := httptest.NewRecorder()
		if err := reply(w, http.StatusOK, text); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got != text ||
			strings.ContainsFunc(w.Body.String(), wording.Hides) {
			t.Errorf("%q: %q, %v", text, w.Body, err)
		}
	}
}
