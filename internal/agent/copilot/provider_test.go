package copilot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
)

// TestRealProviderSettings: all that is known of a provider and its models reaches
// them, or the CLI's idea of them.
func TestRealProviderSettings(t *testing.T) {
	large, azure := copilottest.New(t), copilottest.New(t)
	h := newHouse(t, func(c *copilot.Config) {
		c.Providers = []copilot.Provider{
			{
				Name:    "acme",
				URL:     large.URL(),
				Key:     "key-a",
				Headers: map[string]string{"X-Team": "pumps"},
				Models: []copilot.ProviderModel{{
					ID:        "large",
					Context:   60_000,
					MaxOutput: 2_000,
					NoVision:  true,
				}},
			},
			{
				Name:       "beta",
				Type:       "azure",
				URL:        strings.TrimSuffix(azure.URL(), "/v1"),
				Key:        "key-b",
				APIVersion: "2025-01-01-preview",
				Models:     []copilot.ProviderModel{{ID: "deployed"}},
			},
		}
	})
	k := open(t, h.backend, fresh("limits"), false)
	err := k.prompt(t.Context(), agent.Prompt{
		Content:     "hello",
		Attachments: []agent.Attachment{{Name: "dot.png", MimeType: "image/png", Data: dot(t)}},
	})
	if err == nil || !strings.Contains(err.Error(),
		"acme/large sees no pictures, so nothing was sent. Take dot.png out of the prompt") || len(
		large.Requests()) != 0 {
		t.Errorf("a picture for a model that sees none: %v, %d requests", err, len(large.Requests()))
	}
	if err := k.prompt(t.Context(), agent.Prompt{Content: "hello"}); err != nil {
		t.Fatal(err)
	}
	asked := large.Requests()[0]
	var body struct {
		MaxTokens int64 `json:"max_tokens"`
	}
	if err := json.Unmarshal(asked.Body, &body); err != nil || body.MaxTokens != 2_000 ||
		asked.Header.Get("X-Team") != "pumps" {
		t.Errorf("it was asked for %d tokens with the header %q: %v", body.MaxTokens,
			asked.Header.Get("X-Team"), err)
	}
	for _, e := range k.host.Events() {
		if u, ok := e.(event.SessionUsageInfo); ok && u.TokenLimit != 58_000 {
			t.Errorf("the room is %d tokens, not what the answer leaves of 60,000", u.TokenLimit)
		}
	}
	other, err := h.backend.Open(t.Context(), agent.Options{
		SessionID: fresh("azure"),
		Workspace: t.TempDir(),
		Model:     "beta/deployed",
	}, agenttest.NewHost(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Prompt(t.Context(), agent.Prompt{MessageID: "m1", Content: "hello"}); err != nil {
		t.Fatal(err)
	}
	if asked :=
		azure.Requests()[0]; asked.Path != "/openai/deployments/deployed/chat/completions?api-version=2025-01-01-preview" || asked.Header.Get("Api-Key") != "key-b" {
		t.Errorf("azure was asked at %s", asked.Path)
	}
}
