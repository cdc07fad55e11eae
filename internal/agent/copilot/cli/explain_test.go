package cli

import (
	"strings"
	"testing"
)

// An error says what happened once and what to do once, in our words, without a key.
func TestAdvice(t *testing.T) {
	key := "sk-verysecret1234567890"
	p := New(Config{
		Home:          t.TempDir(),
		ProviderURL:   "http://127.0.0.1:1",
		ProviderModel: "m",
		Keys:          []string{key},
	})
	for _, c := range []struct {
		status     int
		says, want string
	}{
		{401, "Authentication failed with provider at http://x (HTTP 401). Check your API key " +
			"(COPILOT_PROVIDER_API_KEY) and send your message again.",
			"Authentication failed with provider at http://x (HTTP 401). Correct the provider's key, then " +
				"start webchat again."},
		{401, "401 Incorrect API key provided: " + key + ".",
			"401 Incorrect API key provided: the key. Correct the provider's key, then start webchat " +
				"again."},
		{500, "Failed to get response from the AI model; retried 5 times (total retry wait time: 14.31 " +
			"seconds) Last error: 500 out of order",
			"500 out of order. The provider has a problem of its own: send the prompt again later, or " +
				"choose another model."},
		{400, "400 This model's maximum context length is 8192 tokens. However, your messages resulted " +
			"in 9000 tokens.",
			"400 This model's maximum context length is 8192 tokens. Sum the conversation up with " +
				"/compact, or choose a model that takes more."},
		{400, "400 prompt is too long: 210000 tokens > 200000 maximum",
			"400 prompt is too long: 210000 tokens > 200000 maximum. Sum the conversation up with " +
				"/compact, or choose a model that takes more."},
		{429, "429 You exceeded your current quota, please check your plan",
			"429 You exceeded your current quota, please check your plan. The quota is used up: choose " +
				"another model, or go on when it is back."},
		{402, "402 Payment Required",
			"402 Payment Required. The quota is used up: choose another model, or go on when it is back."},
		{429, "429 slow down",
			"429 slow down. The provider wants fewer requests: wait a little, then send the prompt again."},
		{400, "400 unknown parameter",
			"400 unknown parameter. The same request would be refused again: change the prompt, or choose " +
				"another model."},
		{404, "404 no such model!",
			"404 no such model! Choose another model, or correct the provider's address."},
		{504, "504 too slow",
			"504 too slow. The provider did not answer in time: send the prompt again, or choose another " +
				"model."},
		{0, "", "GitHub Copilot CLI reports a failure without a reason. Send the prompt again; if it " +
			"fails again, run webchat doctor in a terminal."},
	} {
		if got := p.Happened(c.says) + " " + p.Advise(Failure{c.status, c.says, true}); got != c.want {
			t.Errorf("%d %q becomes\n%q, not\n%q", c.status, c.says, got, c.want)
		}
	}
	if got := p.Happened(strings.Repeat("é", 1000)); !strings.HasPrefix(got, "é") ||
		strings.Contains(got, "\uFFFD") || len([]rune(got)) > 500 {
		t.Errorf("a long text is not cut by characters: %d bytes", len(got))
	}
}
