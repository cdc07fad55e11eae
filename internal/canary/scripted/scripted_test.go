package scripted_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"webchat/internal/canary/scripted"
)

// Each protocol gets the call in its own words, then the end; and a request that does
// not offer the tool takes nothing of the script.
func TestProtocols(t *testing.T) {
	offers := map[string]string{
		"/v1/chat/completions":                   `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"webchat-show"}}]}`,
		"/v1/messages":                           `{"model":"m","stream":true,"tools":[{"name":"Read"},{"name":"mcp__webchat__show"}]}`,
		"/v1/responses":                          `{"model":"m","stream":true,"tools":[{"type":"namespace","name":"mcp__webchat","tools":[{"type":"function","name":"show"}]}]}`,
		"/v1beta/models/m:streamGenerateContent": `{"tools":[{"functionDeclarations":[{"name":"mcp_webchat_show"}]}]}`,
	}
	calls := map[string]string{
		"/v1/chat/completions":                   `{"arguments":"{\"a\":1}","name":"webchat-show"}`,
		"/v1/messages":                           `"partial_json":"{\"a\":1}"`,
		"/v1/responses":                          `"name":"show","namespace":"mcp__webchat"`,
		"/v1beta/models/m:streamGenerateContent": `"functionCall":{"args":{"a":1},"id":"call_2","name":"mcp_webchat_show"}`,
	}
	for path, body := range offers {
		m, err := scripted.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ask := func(body string) string {
			r, err := http.Post(m.URL()+path, "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		m.Play(scripted.Step{Tool: "show", Arguments: `{"a":1}`})
		for i, want := range []string{"Done.", calls[path], "Done."} {
			sent := body
			if i == 0 {
				sent = `{"model":"m"}`
			}
			if got := ask(sent); !strings.Contains(got, want) {
				t.Errorf("%s: answer %d is %s, want %s in it", path, i, got, want)
			}
		}
		if n := len(m.Requests()); n != 3 {
			t.Errorf("%s: %d requests are kept", path, n)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
