package views

import (
	"context"

	"webchat/internal/outputs"
	"webchat/internal/tokens"
)

// Price implements outputs.Views. Up to [tokens.ExactLimit] bytes are
// counted to the token, as an attachment of these lines has them; more is estimated from pieces
// spread over all.
func (h *Views) Price(ctx context.Context, o *outputs.Output, ranges [][2]int) (n int, exact bool, err error) {
	all := &pieces{most: tokens.ExactLimit}
	if err := copyRanges(ctx, o, ranges, all); err != nil {
		return 0, false, err
	}
	if all.size <= tokens.ExactLimit {
		n, exact = tokens.Count(string(all.kept))
		return n, exact, nil
	}
	few := &pieces{most: tokens.ExactLimit, every: all.size/tokens.ExactLimit + 1}
	if err := copyRanges(ctx, o, ranges, few); err != nil {
		return 0, false, err
	}
	n, _ = tokens.Count(string(few.kept))
	return int(float64(n) / float64(len(few.kept)) * float64(all.size)), false, nil
}

func copyRanges(ctx context.Context, o *outputs.Output, ranges [][2]int, w *pieces) error {
	for _, r := range ranges {
		if err := o.CopyLines(ctx, w, r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

// pieces keeps what is written, or of long texts one piece of pieceSize in so many.
type pieces struct {
	most  int
	every int // 0: all, up to most bytes
	size  int
	kept  []byte
}

const pieceSize = 16 << 10

// Write implements [io.Writer].
func (p *pieces) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(len(b), pieceSize-p.size%pieceSize)
		if p.every == 0 || p.size/pieceSize%p.every == 0 {
			p.kept = append(p.kept, b[:min(k, max(0, p.most-len(p.kept)))]...)
		}
		p.size += k
		b = b[k:]
	}
	return n, nil
}
