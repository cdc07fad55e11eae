package main

import (
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"

	"webchat/internal/agent/copilot"
	"webchat/internal/daemon"
	"webchat/internal/guard"
	"webchat/internal/tokens"
)

// providerTypes are the protocols of models, as flags and file name them. Ollama
// speaks OpenAI's below /v1.
var providerTypes = []string{"openai", "openai-responses", "azure", "anthropic", "ollama"}

// providers are the models the user brought: by flags one, by the file any number.
func (r roster) providers() ([]copilot.Provider, error) {
	var all []copilot.Provider
	if p := r.Provider; p.URL != "" {
		switch {
		case !isURL(p.URL):
			return nil, usage("--provider-url %q is not an http or https address", p.URL)
		case p.Type != "" && !slices.Contains(providerTypes, p.Type):
			return nil, usage("--provider-type %q is none of %s", p.Type, strings.Join(providerTypes, ", "))
		case r.Model == "":
			return nil, usage("--provider-url needs --model, the name of a model there")
		}
		key, err := r.providerKey()
		if err != nil {
			return nil, err
		}
		if _, ofFile := r.c.model(r.Model); ofFile {
			return nil,
				usage("--model %s is a model of the configuration; leave --provider-url out, or name another",
					r.Model)
		}
		all = append(all, provider("", p.Type, p.URL, key, []copilot.ProviderModel{{ID: r.Model}}))
	} else if p.Type != "" || p.KeyFile != "" {
		return nil, usage("--provider-type and --provider-key-file need --provider-url")
	}
	for _, name := range slices.Sorted(maps.Keys(r.c.Providers)) {
		p := r.c.Providers[name]
		key := ""
		if p.KeyEnv != "" {
			var ok bool
			if key, ok = lookup(r.env, p.KeyEnv); !ok || key == "" {
				return nil,
					usage("the provider %s of the configuration needs the variable %s, which is not set", name,
						p.KeyEnv)
			}
		}
		var its []copilot.ProviderModel
		for _, m := range p.Models {
			its = append(its, copilot.ProviderModel{
				ID:        m.ID,
				Context:   m.Context,
				MaxOutput: m.MaxOutput,
				NoVision:  m.Vision != nil && !*m.Vision,
				Reasoning: m.Reasoning,
			})
		}
		made := provider(name, p.Type, p.URL, key, its)
		made.Headers, made.APIVersion = p.Headers, p.APIVersion
		all = append(all, made)
	}
	return all, nil
}

// providerKey is the key of --provider-url; it may have none.
func (o *options) providerKey() (string, error) {
	if o.Provider.KeyFile == "" {
		key, _ := lookup(o.env, "WEBCHAT_PROVIDER_KEY")
		return key, nil
	}
	key, err := guard.ReadKey(o.Provider.KeyFile, "key of the model", slog.New(slog.DiscardHandler))
	if err != nil {
		return "", usage("--provider-key-file %s: %v", o.Provider.KeyFile, daemon.Plain(err))
	}
	return key, nil
}

func provider(name, kind, address, key string, its []copilot.ProviderModel) copilot.Provider {
	p := copilot.Provider{
		Name:   name,
		Type:   kind,
		URL:    strings.TrimRight(address, "/"),
		Key:    key,
		Models: its,
	}
	switch kind {
	case "ollama":
		p.Type = "openai"
		if u, err := url.Parse(p.URL); err == nil && u.Path == "" {
			p.URL += "/v1"
		}
	case "openai-responses":
		p.Type, p.WireAPI = "openai", "responses"
	}
	return p
}

// model returns the model a session's name is of.
func (c *config) model(id string) (modelConfig, bool) {
	name, rest, ok := strings.Cut(id, "/")
	if !ok {
		return modelConfig{}, false
	}
	for _, m := range c.Providers[name].Models {
		if m.ID == rest {
			return m, true
		}
	}
	return modelConfig{}, false
}

// prices are those of a model.
func (c *config) prices(id string) tokens.Prices {
	m, _ := c.model(id)
	return tokens.Prices{Input: m.InputPrice, Output: m.OutputPrice, Cached: m.CachedPrice}
}
