package views

import (
	"context"

	"webchat/internal/outputs"
	"webchat/internal/tokens"
)

// Price implements outputs.Views. The price of more than [tokens.ExactLimit] bytes is estimated,
// and that of more than mostPriced by the first of them.
func (h *Views) Price(ctx context.Context, o *outputs.Output, ranges,
	lifted [][2]int) (n int, exact bool, err error) {
	p := &priced{}
	for _, r := range ranges {
		if o.IsVeiled() {
			err = o.CopyShown(ctx, p, r[0], r[1], lifted)
		} else {
			err = o.CopyLines(ctx, p, r[0], r[1])
		}
		if err != nil {
			return 0, false, err
		}
	}
	n, exact = tokens.Count(string(p.kept))
	if left := p.size - len(p.kept); left > 0 {
		n += int(float64(n) / float64(len(p.kept)) * float64(left))
	}
	return n, exact, nil
}

const mostPriced = 8 << 20 // bytes

// priced keeps the beginning of what is written.
type priced struct {
	size int
	kept []byte
}

// Write implements [io.Writer].
func (p *priced) Write(b []byte) (int, error) {
	p.size += len(b)
	p.kept = append(p.kept, b[:min(len(b), mostPriced-len(p.kept))]...)
	return len(b), nil
}
