package copilot_test

import (
	"strings"
	"testing"

	"webchat/internal/agent/copilot"
	"webchat/internal/event"
)

// An error says what happened once and what to do once, in our words, without a key.
func TestAdvice(t *testing.T) {
	key := "sk-verysecret1234567890"
	b := backend(t, copilot.Config{Home: t.TempDir(), Providers: []copilot.Provider{{URL: "http://127.0.0.1:1", Key: key, Models: []string{"m"}}}})
	for _, c := range []struct {
		status     int
		says, want string
	}{
		{401, "Authentication failed with provider at http://x (HTTP 401). Check your API key (COPILOT_PROVIDER_API_KEY) and send your message again.",
			"Authentication failed with provider at http://x (HTTP 401). Correct the provider's key, then start webchat again."},
		{401, "401 Incorrect API key provided: " + key + ".", "401 Incorrect API key provided: the key. Correct the provider's key, then start webchat again."},
		{500, "Failed to get response from the AI model; retried 5 times (total retry wait time: 14.31 seconds) Last error: 500 out of order",
			"500 out of order. The provider has a problem of its own: send the prompt again later."},
		{0, "", "GitHub Copilot CLI reports a failure without a reason. Send the prompt again; webchat doctor says what is set up."},
	} {
		if got := copilot.Advise(b, c.status, c.says); got != c.want {
			t.Errorf("%d %q becomes\n%q, not\n%q", c.status, c.says, got, c.want)
		}
	}
	if got := copilot.Advise(b, 0, strings.Repeat("é", 1000)); !strings.HasPrefix(got, "é") || strings.Contains(got, "\uFFFD") || len([]rune(got)) > 500 {
		t.Errorf("a long text is not cut by characters: %d bytes", len(got))
	}
}

// Tries of the provider are seen while they last, and can be stopped.
func TestRealRetriesAreSeen(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	r := h.ask(s, "status 500")
	var seen []string
	for _, d := range h.await(s, "the end", func(d event.Data) bool { _, ok := d.(event.TurnEnd); return ok }) {
		if e, ok := d.(event.SessionError); ok && e.Kind == event.KindRetrying {
			seen = append(seen, e.Message)
		}
	}
	if len(seen) != 5 || seen[1] != "The provider answered 500; trying again, 2 of 5." || !strings.Contains(r.Error, "scripted refusal 500") {
		t.Errorf("retries %q, error %q", seen, r.Error)
	}
}
