package looking

import (
	"strings"

	"webchat/internal/tokens"
)

// usage is what a call of a model took.
type usage struct {
	fresh   int64 // input that no cache had, and that was not written to one
	cached  int64 // read from a cache
	written int64 // written to a cache
	forLong int64 // of what was written: for an hour
	output  int64
}

// input is all that the model was sent.
func (u usage) input() int64 { return u.fresh + u.cached + u.written }

// rates are what a token costs, in millionths of a dollar, or else in tokens of input.
type rates struct{ fresh, cached, written, forLong, output float64 }

// family is how the prices of a provider's models relate to that of their input.
type family struct {
	begins []string
	rates
}

// families are known by how the names of their models begin. What is cached, and what is written to
// a cache, has had these prices, in tokens of input, in the price lists of Anthropic, OpenAI and
// Google since 2025; output differs a little between models.
var families = []family{
	{[]string{"claude"}, rates{1, 0.1, 1.25, 2, 5}},
	{[]string{"gpt-4o"}, rates{1, 0.5, 1, 1, 4}},
	{[]string{"gpt-4.1", "o3", "o4"}, rates{1, 0.25, 1, 1, 4}},
	{[]string{"gpt-", "codex"}, rates{1, 0.1, 1, 1, 8}},
	{[]string{"gemini"}, rates{1, 0.1, 1, 1, 8}},
}

// ofFamily are the rates of a model in tokens of input. Where its family is not known, all tokens
// count the same.
func ofFamily(model string) (rates, bool) {
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	for _, f := range families {
		for _, b := range f.begins {
			if strings.HasPrefix(model, b) {
				return f.rates, true
			}
		}
	}
	return rates{1, 1, 1, 1, 1}, false
}

// priced are the rates of a model whose prices are known.
func priced(model string, p tokens.Prices) rates {
	r, _ := ofFamily(model)
	cached := p.Cached
	if cached == 0 {
		cached = p.Input
	}
	return rates{p.Input, cached, p.Input * r.written, p.Input * r.forLong, p.Output}
}

// cost is what a call cost.
func (r rates) cost(u usage) float64 {
	return float64(u.fresh)*r.fresh + float64(u.cached)*r.cached + r.write(u) +
		float64(u.output)*r.output
}

func (r rates) write(u usage) float64 {
	return float64(u.written-u.forLong)*r.written + float64(u.forLong)*r.forLong
}

// part is what n tokens of a call's input cost, of which some came from the cache: the others cost
// what the input cost on average that did not.
func (r rates) part(u usage, n, cached int64) float64 {
	rest := r.cached
	if others := u.fresh + u.written; others > 0 {
		rest = (float64(u.fresh)*r.fresh + r.write(u)) / float64(others)
	}
	return float64(cached)*r.cached + float64(n-cached)*rest
}
