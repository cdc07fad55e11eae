package copilot

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
)

// Providers are all of a user's providers. Each has an address, a model, and a name of its own.
type Providers []Provider

// Provider is where models are.
type Provider struct {
	Name    string // short; a model's id is "name/model". Empty for one: the id is the model's alone
	Type    string // openai (the default), azure or anthropic
	WireAPI string // of openai: completions (the default) or responses
	URL     string
	Key     string
	// Headers go with every request, beside those of the protocol.
	Headers map[string]string
	// APIVersion is of azure; empty means the CLI's own choice.
	APIVersion string
	Models     []ProviderModel
}

// ProviderModel is what is known of one of a provider's models.
type ProviderModel struct {
	ID        string
	Context   int64 // tokens that prompt and answer take together; 0: not known
	MaxOutput int64 // tokens of an answer at most; 0: not known
	NoVision  bool  // it cannot see pictures
	Reasoning bool  // how hard it thinks can be set
}

// id is how a session names the model m of p.
func (p Provider) id(m string) string {
	if p.Name == "" {
		return m
	}
	return p.Name + "/" + m
}

// IDs are the models in the words of a session.
func (o Providers) IDs() (ids []string) {
	for _, p := range o {
		for _, m := range p.Models {
			ids = append(ids, p.id(m.ID))
		}
	}
	return ids
}

// of returns a model and its provider; ok is false if none of them has it.
func (o Providers) of(id string) (p Provider, m ProviderModel, ok bool) {
	for _, p := range o {
		for _, m := range p.Models {
			if p.id(m.ID) == id {
				return p, m, true
			}
		}
	}
	return p, m, false
}

// Has reports whether one of the providers has a model.
func (o Providers) Has(id string) bool {
	_, _, ok := o.of(id)
	return ok
}

// Check says whether one of the providers has a model. Without providers any will do.
func (o Providers) Check(id string) error {
	if len(o) > 0 && !o.Has(id) {
		return fmt.Errorf("no provider has the model %q; there are %s", id, strings.Join(o.IDs(), ", "))
	}
	return nil
}

// Efforts are the reasoning efforts of a model; none: it has none. Nothing lists those of a user's
// own models.
func (o Providers) Efforts(id string) []string {
	if _, m, _ := o.of(id); m.Reasoning {
		return []string{"low", "medium", "high"}
	}
	return nil
}

// unnamedProvider is what the CLI calls a provider without a name.
const unnamedProvider = "own"

// nativeProvider and nativeModel are parameters of a session.
type (
	nativeProvider struct {
		Name    string            `json:"name"`
		Type    string            `json:"type"`
		BaseURL string            `json:"baseUrl"`
		APIKey  string            `json:"apiKey,omitempty"`
		WireAPI string            `json:"wireApi,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Azure   map[string]string `json:"azure,omitempty"`
	}
	nativeModel struct {
		ID              string         `json:"id"`
		Provider        string         `json:"provider"`
		WireModel       string         `json:"wireModel"`
		Capabilities    map[string]any `json:"capabilities"`
		MaxPromptTokens int64          `json:"maxPromptTokens,omitempty"`
		MaxOutputTokens int64          `json:"maxOutputTokens,omitempty"`
	}
)

// parameters are those of a session: each request goes to the model's own provider with its own
// key. The keys were found nowhere in the CLI's state.
func (o Providers) parameters() map[string]any {
	var providers []nativeProvider
	var models []nativeModel
	for _, p := range o {
		n := nativeProvider{
			Name:    cmp.Or(p.Name, unnamedProvider),
			Type:    cmp.Or(p.Type, "openai"),
			BaseURL: p.URL,
			APIKey:  p.Key,
			WireAPI: p.WireAPI,
			Headers: maps.Clone(p.Headers),
		}
		if p.APIVersion != "" {
			n.Azure = map[string]string{"apiVersion": p.APIVersion}
		}
		providers = append(providers, n)
		for _, m := range p.Models {
			native := nativeModel{ID: m.ID, Provider: n.Name, WireModel: m.ID, MaxOutputTokens: m.MaxOutput,
				Capabilities: map[string]any{"supports": map[string]bool{"vision": !m.NoVision,
					"reasoningEffort": m.Reasoning}}}
			if m.Context > 0 {
				native.MaxPromptTokens = m.Context - m.MaxOutput
			}
			models = append(models, native)
		}
	}
	if len(o) == 0 {
		return nil
	}
	return map[string]any{"providers": providers, "models": models}
}

// Native is the CLI's name of a model of a session.
func (o Providers) Native(id string) string {
	if p, _, ok := o.of(id); ok && p.Name == "" {
		return unnamedProvider + "/" + id
	}
	return id
}

// ourModel is the way back from [Providers.Native].
func ourModel(native string) string { return strings.TrimPrefix(native, unnamedProvider+"/") }
