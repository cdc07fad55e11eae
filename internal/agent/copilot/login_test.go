package copilot_test

import (
	"slices"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
)

// The models of a GitHub login are there beside those the user brought, where the user
// wants that; and it is known who is signed in.
func TestLoginBesideOwnModels(t *testing.T) {
	cfg, dir := scripted(t, []byte(`-- auth.getStatus --
{"isAuthenticated":true,"authType":"user","host":"https://github.com","login":"octocat","statusMessage":"octocat"}
-- models.list --
{"models":[{"id":"m-1","name":"One","supportedReasoningEfforts":["low","max"]},{"id":"m-2","name":"Two"}]}
`))
	cfg.Login = true
	b := backend(t, cfg)
	k := open(t, b, "s", false)
	all, err := b.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	own := cfg.Providers.IDs()
	if want := slices.Concat(own, []string{"m-1", "m-2"}); !slices.Equal(ids, want) {
		t.Errorf("to choose from are %q, want %q", ids, want)
	}
	if who := b.Info(t.Context()).Account; who != "octocat" {
		t.Errorf("signed in is %q", who)
	}
	for _, model := range []string{"m-1", own[0]} {
		if err := k.conn.SetModel(t.Context(), model); err != nil {
			t.Error(err)
		}
	}
	if err := k.conn.SetModel(t.Context(), "m-9"); err == nil ||
		!strings.Contains(err.Error(), "nor your GitHub login") {
		t.Errorf("a model that neither has: %v", err)
	}
	if sent := received(t, dir, "session.model.switchTo"); len(sent) != 2 ||
		!strings.Contains(sent[0], `"modelId":"m-1"`) || !strings.Contains(sent[1], `"modelId":"own/`) {
		t.Errorf("told %q", sent)
	}
	if c := k.conn.(agent.Chooser).Choices(); len(c.Efforts) > 0 {
		t.Errorf("an own model has the efforts %+v", c.Efforts)
	}
}

// Without a login the user's own models work all the same, and the CLI says how to sign
// in only when a model of the login is asked for. Nothing but loopback can be reached.
func TestRealOwnModelsWithoutTheLogin(t *testing.T) {
	h := newHouse(t, func(c *copilot.Config) {
		c.Login = true
		c.Env = append(c.Env, "HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9",
			"NO_PROXY=127.0.0.1")
	})
	s := h.session()
	if r := h.ask(s, "hello there"); r.Error != "" || r.Content != "You said: hello there" {
		t.Errorf("%+v", r)
	}
	if all, err := h.backend.Models(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("to choose from are %+v, %v", all, err)
	}
	if who := h.backend.Info(t.Context()).Account; who != "" {
		t.Errorf("signed in is %q", who)
	}
	if r := h.ask(s, "status 401"); !strings.Contains(r.Error, "Correct the provider's key") {
		t.Errorf("a provider that refuses: %+v", r)
	}
	_, err := h.backend.Open(t.Context(), agent.Options{
		SessionID: "other",
		Model:     "gpt-5",
		Workspace: h.dir,
	}, nil)
	if err == nil || !strings.Contains(err.Error(), "copilot login") {
		t.Errorf("a model of the login: %v", err)
	}
}
