package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"webchat/internal/event"
	"webchat/internal/session"
	"webchat/internal/store/storetest"
)

// moody is a disk that fails when fails says so.
type moody struct {
	*DB
	fails func() bool
}

func (m moody) fault() error {
	if m.fails() {
		return fmt.Errorf("tried: %w", ErrFull)
	}
	return nil
}

func (m moody) Append(ctx context.Context, id session.ID, entries []event.Entry, s session.Summary) error {
	if err := m.fault(); err != nil {
		return err
	}
	return m.DB.Append(ctx, id, entries, s)
}

func (m moody) Mark(ctx context.Context, id session.ID, mark session.Mark) error {
	if err := m.fault(); err != nil {
		return err
	}
	return m.DB.Mark(ctx, id, mark)
}

func (m moody) Delete(ctx context.Context, id session.ID) error {
	if err := m.fault(); err != nil {
		return err
	}
	return m.DB.Delete(ctx, id)
}

var quiet = slog.New(slog.DiscardHandler)

func steadyOn(d disk) *Steady {
	s := newSteady(func() (disk, error) { return nil, ErrReadOnly }, quiet)
	s.disk = d
	return s
}

// TestSteadyOnMoodyDisks: whatever call a disk fails, a Steady is a store like any
// other, and in the end the file holds everything.
func TestSteadyOnMoodyDisks(t *testing.T) {
	for name, share := range map[string]float64{"good": 0, "moody": 0.3, "bad": 1} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			// Of sessions last active at the same instant, those on the disk and those in
			// memory have no common order.
			without := []string{"ListPages", "ListKinds", "SearchPages", "Model"}
			if share == 0 {
				without = nil
			}
			storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
				var mu sync.Mutex // guards rnd and share
				rnd, share := rand.New(rand.NewPCG(seed, 0)), share
				fails := func() bool { mu.Lock(); defer mu.Unlock(); return rnd.Float64() < share }
				dir := t.TempDir()
				mk := func() *Steady {
					db, err := Open(Config{Dir: dir})
					if err != nil {
						t.Fatal(err)
					}
					return steadyOn(moody{db, fails})
				}
				s := mk()
				shut := func() {
					mu.Lock()
					was := share
					share = 0
					mu.Unlock()
					if err := s.flush(context.Background()); err != nil {
						t.Error(err)
					}
					if s.bytes != 0 || len(s.late) != 0 {
						t.Errorf("%d bytes of %d sessions are late after all was written", s.bytes, len(s.late))
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					mu.Lock()
					share = was
					mu.Unlock()
				}
				t.Cleanup(func() { shut() })
				return s, func() storetest.Store {
					shut()
					s = mk()
					return s
				}
			}, ErrSequence, without...)
		})
	}
}

// TestSteadyWithoutADisk: there is no file at all; everything is in memory.
func TestSteadyWithoutADisk(t *testing.T) {
	storetest.Run(t, func(t testing.TB) (storetest.Store, func() storetest.Store) {
		s := steadyOn(nil)
		s.disk = nil
		return s, func() storetest.Store { return s }
	}, ErrSequence)
}

// TestSteadyTells: trouble is told once, and its end, and a full memory refuses.
func TestSteadyTells(t *testing.T) {
	dir := t.TempDir()
	db := mustOpen(t, dir)
	broken := true
	var mu sync.Mutex // guards broken
	set := func(b bool) { mu.Lock(); defer mu.Unlock(); broken = b }
	s := steadyOn(moody{db, func() bool { mu.Lock(); defer mu.Unlock(); return broken }})
	told := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _ = s.Run(ctx, func(err error) { told <- err }); close(done) }()

	entries, sum := storetest.Start(t, "a", 3)
	if err := s.Append(t.Context(), "a", entries, sum); err != nil {
		t.Fatal(err)
	}
	if err := <-told; !errors.Is(err, ErrFull) {
		t.Errorf("told %v", err)
	}
	if got, err := s.After(t.Context(), "a", 0, 10); err != nil || len(got) != 3 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if got, err := db.After(t.Context(), "a", 0, 10); err != nil || len(got) != 0 {
		t.Errorf("the disk has %d entries, %v", len(got), err)
	}
	big := storetest.Entry(t, 1, event.UserMessage{MessageID: "m", Content: strings.Repeat("x", maxLate)})
	if err := s.Append(t.Context(), "big", []event.Entry{big}, session.Fold(session.Summary{ID: "big"}, big)); !errors.Is(err, ErrFull) {
		t.Errorf("more than memory may hold: %v", err)
	}
	set(false)
	if err := <-told; err != nil {
		t.Errorf("told %v at the end", err)
	}
	if got, err := db.After(t.Context(), "a", 0, 10); err != nil || len(got) != 3 {
		t.Errorf("the disk has %d entries, %v", len(got), err)
	}
	cancel()
	<-done
	set(true)
	e := storetest.Entry(t, 4, event.Abort{Reason: "x"})
	if err := s.Append(t.Context(), "a", []event.Entry{e}, session.Fold(sum, e)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "1 sessions could not be saved") {
		t.Errorf("Close: %v", err)
	}
}

// TestSteadyPausesGrow: a disk that stays full is not tried all the time.
func TestSteadyPausesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		s := newSteady(func() (disk, error) { tries++; return nil, ErrReadOnly }, quiet)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { _ = s.Run(ctx, func(error) {}); close(done) }()
		entries, sum := storetest.Start(t, "a", 1)
		if err := s.Append(t.Context(), "a", entries, sum); err != nil {
			t.Fatal(err)
		}
		wait, end := context.WithTimeout(ctx, 60*lastRetry)
		defer end()
		<-wait.Done()
		cancel()
		<-done
		if tries < 60 || tries > 70 {
			t.Errorf("%d tries in %v", tries, 60*lastRetry)
		}
	})
}

// TestDamagedFilesAreMovedAside: a start with a bad file works, and the file is
// still there under another name, byte for byte.
func TestDamagedFilesAreMovedAside(t *testing.T) {
	_, good := filled(t)
	sound, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(sound)
	binary.BigEndian.PutUint32(other[68:], 77)
	for name, file := range map[string][]byte{
		"text": []byte(strings.Repeat("this is no database. ", 100)), "short": sound[:50], "truncated": sound[:4096*3+100],
		"zeroes": append(bytes.Clone(sound[:100]), make([]byte, 8000)...), "of another program": other, "folder": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if file == nil {
				err = os.Mkdir(path, 0o700)
			} else {
				err = os.WriteFile(path, file, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			s, moved, err := OpenSteady(Config{Dir: dir}, quiet)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if !strings.HasPrefix(moved, path+".corrupt-") || s.Trouble() != nil {
				t.Fatalf("it is at %q, trouble %v", moved, s.Trouble())
			}
			if kept, err := os.ReadFile(moved); file != nil && (err != nil || !bytes.Equal(kept, file)) {
				t.Errorf("the file was changed (%v)", err)
			}
			works(t, s)
		})
	}
}

func works(t testing.TB, s *Steady) {
	t.Helper()
	entries, sum := storetest.Start(t, "fresh", 3)
	if err := s.Append(t.Context(), "fresh", entries, sum); err != nil {
		t.Fatal(err)
	}
	if got, err := s.After(t.Context(), "fresh", 0, 10); err != nil || len(got) != 3 {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

func TestNewerFileIsRefused(t *testing.T) {
	dir, file := filled(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(b[60:], uint32(len(migrations)+1))
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenSteady(Config{Dir: dir}, quiet); !errors.Is(err, ErrNewer) {
		t.Errorf("OpenSteady: %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, b) {
		t.Errorf("the file was touched (%v)", err)
	}
}

// flips starts with files of which random bits are wrong: it never fails, and what
// is read is what was written or an error.
func flips(t *testing.T, n int) {
	_, good := filled(t)
	sound, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	if text := os.Getenv("WEBCHAT_SOAK"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	moves := 0
	for range n {
		b := bytes.Clone(sound)
		for range 1 + rnd.IntN(20) {
			b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, FileName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, moved, err := OpenSteady(Config{Dir: dir}, quiet)
		if errors.Is(err, ErrNewer) {
			continue // the flip was in the version
		}
		if err != nil {
			t.Fatal(err)
		}
		if moved != "" {
			moves++
		}
		if _, err := s.After(t.Context(), "s5", 0, 100); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("After: %v", err)
		}
		if _, err := s.List(t.Context(), session.Query{Text: "words"}); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("List: %v", err)
		}
		works(t, s)
		if err := s.Close(); err != nil && s.Trouble() == nil {
			t.Errorf("Close: %v", err)
		}
	}
	t.Logf("%d of %d files were moved aside", moves, n)
}

func TestStartsWithFlippedBits(t *testing.T) { flips(t, 40) }

func TestSoakStartsWithFlippedBits(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: set WEBCHAT_SOAK to a seed")
	}
	flips(t, 500)
}
