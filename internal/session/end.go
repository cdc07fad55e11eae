package session

import (
	"context"
	"fmt"
	"slices"

	"webchat/internal/event"
)

// atOnce is how many entries End reads at a time.
const atOnce = 250

// End returns the entries of the log from where cut lies up to sequence last, all of
// them if it lies nowhere. What it costs follows from what it returns.
func (s *Session) End(ctx context.Context, cut *event.Cut, last int64) ([]event.Entry, error) {
	var parts [][]event.Entry
	for last > 0 {
		after := max(0, last-atOnce)
		part, err := s.Events(ctx, after, int(last-after))
		if err != nil {
			return nil, err
		}
		if int64(len(part)) != last-after {
			return nil, fmt.Errorf("%w: it should hold %d entries after %d, it holds %d", ErrLog, last-after, after, len(part))
		}
		last = after
		for i := len(part) - 1; i >= 0; i-- {
			if cut.Take(part[i]) {
				part, last = part[i:], 0
				break
			}
		}
		parts = append(parts, part)
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), nil
}
