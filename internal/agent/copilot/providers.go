package copilot

import (
	"fmt"
	"slices"
	"strings"
)

// Providers are all of a user's providers.
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
	// APIVersion is of azure; empty: the CLI's own choice.
	APIVersion string
	Models     []ProviderModel
}

// ProviderModel is what is known of one of a provider's models.
type ProviderModel struct {
	ID        string
	Context   int64 // tokens that prompt and answer take together; 0: not known
	MaxOutput int64 // tokens of an answer at most; 0: not known
	NoVision  bool  // it cannot see pictures
	Reasoning bool  // it can be told how hard to think
}

// Checked returns them with what they leave open filled in, or what is wrong with them.
func (o Providers) Checked() (Providers, error) {
	o = slices.Clone(o)
	seen := map[string]bool{}
	for i := range o {
		p := &o[i]
		switch {
		case p.URL == "" || len(p.Models) == 0:
			return nil, fmt.Errorf("the provider %q needs an address and a model", p.Name)
		case seen[p.Name]:
			return nil, fmt.Errorf("two providers are named %q", p.Name)
		}
		seen[p.Name] = true
		if p.Type == "" {
			p.Type = "openai"
		}
		if !slices.Contains([]string{"openai", "azure", "anthropic"}, p.Type) {
			return nil, fmt.Errorf("the provider type %q is none of openai, azure and anthropic", p.Type)
		}
	}
	return o, nil
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

// Has reports whether one of the providers has a model.
func (o Providers) Has(id string) bool { return slices.Contains(o.IDs(), id) }

// Check says whether one of the providers has a model. Without providers any will do.
func (o Providers) Check(id string) error {
	if ids := o.IDs(); len(ids) > 0 && !slices.Contains(ids, id) {
		return fmt.Errorf("no provider has the model %q; there are %s", id, strings.Join(ids, ", "))
	}
	return nil
}

// ownEfforts are the reasoning efforts of a user's own model, of which nothing tells them.
var ownEfforts = []string{"low", "medium", "high"}

// Efforts are the reasoning efforts of a model; none: it has none.
func (o Providers) Efforts(id string) []string {
	if o.of(id).Reasoning {
		return ownEfforts
	}
	return nil
}

// Sees reports whether nothing says that a model cannot see pictures.
func (o Providers) Sees(id string) bool { return !o.of(id).NoVision }

func (o Providers) of(id string) ProviderModel {
	for _, p := range o {
		for _, m := range p.Models {
			if p.id(m.ID) == id {
				return m
			}
		}
	}
	return ProviderModel{}
}

// unnamedProvider is what the CLI calls a provider without a name.
const unnamedProvider = "own"

// Parameters are those of a session: each request goes to the model's own provider with
// its own key. The keys were found nowhere in the CLI's state.
func (o Providers) Parameters() map[string]any {
	if len(o) == 0 {
		return nil
	}
	var providers, models []map[string]any
	for _, p := range o {
		name := p.Name
		if name == "" {
			name = unnamedProvider
		}
		provider := map[string]any{"name": name, "type": p.Type, "baseUrl": p.URL}
		if p.Key != "" {
			provider["apiKey"] = p.Key
		}
		if p.WireAPI != "" {
			provider["wireApi"] = p.WireAPI
		}
		if len(p.Headers) > 0 {
			provider["headers"] = p.Headers
		}
		if p.APIVersion != "" {
			provider["azure"] = map[string]string{"apiVersion": p.APIVersion}
		}
		providers = append(providers, provider)
		for _, m := range p.Models {
			models = append(models, m.native(name))
		}
	}
	return map[string]any{"providers": providers, "models": models}
}

// native is the model in the CLI's words.
func (m ProviderModel) native(provider string) map[string]any {
	all := map[string]any{"id": m.ID, "provider": provider, "wireModel": m.ID, "capabilities": map[string]any{
		"supports": map[string]bool{"vision": !m.NoVision, "reasoningEffort": m.Reasoning}}}
	if m.Context > 0 {
		all["maxPromptTokens"] = m.Context - m.MaxOutput
	}
	if m.MaxOutput > 0 {
		all["maxOutputTokens"] = m.MaxOutput
	}
	return all
}

// Native is the CLI's name of a model of a session.
func (o Providers) Native(id string) string {
	for _, p := range o {
		if p.Name == "" && slices.ContainsFunc(p.Models, func(m ProviderModel) bool { return m.ID == id }) {
			return unnamedProvider + "/" + id
		}
	}
	return id
}

// ourModel is the way back from [Providers.Native].
func ourModel(native string) string { return strings.TrimPrefix(native, unnamedProvider+"/") }
