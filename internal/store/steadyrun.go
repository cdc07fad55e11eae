package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How often a disk that took nothing is tried again.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Run tries to write what is late until ctx ends, and makes older files
// searchable. tell is called when trouble begins, with why, and with nil when
// everything is on the disk again; one call at a time. Run returns nil.
func (s *Steady) Run(ctx context.Context, tell func(error)) error {
	var indexing sync.WaitGroup
	defer indexing.Wait()
	indexing.Go(func() { s.index(ctx) })
	pause := time.NewTimer(0)
	defer pause.Stop()
	told, wait := false, firstRetry
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-pause.C:
		}
		why := s.Trouble()
		if why != nil && !told {
			s.log.Error("sessions are kept in memory only", "error", why)
			told = true
			tell(plainly(why))
		}
		if why == nil {
			continue
		}
		if s.retry(ctx) {
			s.log.Info("everything is saved again")
			told, wait = false, firstRetry
			tell(nil)
			continue
		}
		pause.Reset(wait)
		wait = min(2*wait, lastRetry)
	}
}

// plainly is why, without what only a log needs.
func plainly(why error) error {
	for _, kind := range []error{ErrFull, ErrReadOnly, ErrLocked, ErrCorrupt} {
		if errors.Is(why, kind) {
			return kind
		}
	}
	return why
}

// index makes an older file searchable; a failure of it costs nothing but that.
func (s *Steady) index(ctx context.Context) {
	s.mu.RLock()
	d := s.disk
	s.mu.RUnlock()
	if d == nil {
		return
	}
	if err := d.Index(ctx); err != nil && ctx.Err() == nil {
		s.log.Error("older sessions cannot be searched", "error", err)
	}
}

// retry reports whether the disk has everything now.
func (s *Steady) retry(ctx context.Context) bool {
	if !s.reopen() || s.flush(ctx) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.late) > 0 {
		return false
	}
	s.trouble = nil
	return true
}

// reopen opens the file for writing if that has not worked yet.
func (s *Steady) reopen() bool {
	s.mu.RLock()
	d, closed := s.disk, s.closed
	s.mu.RUnlock()
	if closed {
		return false
	}
	if db, ok := d.(*DB); d != nil && (!ok || !db.readOnly) {
		return true
	}
	fresh, err := s.open()
	if err != nil {
		return false
	}
	s.mu.Lock()
	s.disk = fresh
	s.mu.Unlock()
	if d != nil {
		if err := d.Close(); err != nil {
			s.log.Warn("a file that was open for reading did not close", "error", err)
		}
	}
	return true
}

// Trouble is why not everything is on the disk; nil: it is.
func (s *Steady) Trouble() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.trouble
}

// Size implements what [DB.Size] does; without a file it is 0.
func (s *Steady) Size() (int64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.disk == nil {
		return 0, nil
	}
	return s.disk.Size()
}

// Vacuum implements what [DB.Vacuum] does.
func (s *Steady) Vacuum(ctx context.Context) error {
	s.mu.RLock()
	d := s.disk
	s.mu.RUnlock()
	if d == nil {
		return fmt.Errorf("vacuum: %w", errNoDisk)
	}
	return d.Vacuum(ctx)
}

// Close writes what is late, if the disk takes it now, and closes the file. An
// error that says how many sessions are not whole is the last word about them.
func (s *Steady) Close() error {
	if s.Trouble() != nil {
		s.retry(context.Background())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var err error
	if n := len(s.late); n > 0 {
		err = fmt.Errorf("%d sessions could not be saved: %w", n, s.trouble)
	}
	if s.disk == nil {
		return err
	}
	return errors.Join(err, s.disk.Close())
}
