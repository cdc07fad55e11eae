package eventlog

import (
	"context"
	"errors"
	"time"
)

// How often a log that refused something is tried again.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Persist calls f by Change until the store takes what f appends, f fails for another reason, or
// ctx has ended. It is called at least once.
func (l *Log) Persist(ctx context.Context, f func() error) error {
	return Retry(ctx, func() error { return l.Change(context.Background(), f) })
}

// Retry calls f until it returns no ErrLog, or ctx has ended.
func Retry(ctx context.Context, f func() error) error {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		err := f()
		if !errors.Is(err, ErrLog) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
