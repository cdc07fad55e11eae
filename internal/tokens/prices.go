package tokens

// Prices are what a million tokens of a model cost, in dollars; 0 is unknown.
type Prices struct{ Input, Output, Cached float64 }

// Of is what calls cost, and what one token of their input cost on average, in millionths of a
// dollar. Of the input, cached tokens came from a cache: without a price for them they are counted
// in full.
func (p Prices) Of(input, cached, output int64) (each, all float64) {
	if input <= 0 {
		return 0, 0
	}
	if p.Cached == 0 {
		p.Cached = p.Input
	}
	cached = min(cached, input)
	in := float64(input-cached)*p.Input + float64(cached)*p.Cached
	return in / float64(input), in + float64(output)*p.Output
}
