package guard

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	idleLife  = 12 * time.Hour
	wholeLife = 7 * 24 * time.Hour
	// touchEvery is how much of idleLife a crash may take from a sign-in: the file is not written
	// for each request.
	touchEvery = 10 * time.Minute
	maxSignins = 1000
)

// signin is one browser that came in. Nothing on the disk lets anybody in.
type signin struct {
	Cookie  sum       `json:"cookie"`
	Key     []byte    `json:"key,omitempty"` // public; see [Guard.Renew]
	Place   string    `json:"place"`         // where it holds
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`

	secret string // of this process
	sum    sum    // of secret
}

func (s signin) alive(now time.Time) bool {
	return now.Sub(s.Used) < idleLife && now.Sub(s.Created) < wholeLife
}

// MarshalText implements [encoding.TextMarshaler].
func (s sum) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s[:])), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *sum) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return errors.New("not a SHA-256 sum")
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// signins is the file of those who are signed in.
type signins struct {
	file string
	life []byte // the key of this process's secrets
	log  *slog.Logger

	mu   sync.Mutex // guards what follows, and the file
	list []signin
	disk []time.Time // Used as it stands in the file, by index
}

// openSignins reads the file. One that cannot be understood signs everybody out, which is safe,
// rather than keeping the server from starting.
func openSignins(file string, log *slog.Logger) (*signins, error) {
	s := &signins{file: file, life: []byte(rand.Text() + rand.Text()), log: log}
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, fmt.Errorf("read the sign-ins: %w", err)
	}
	if err := json.Unmarshal(b, &s.list); err != nil {
		s.list = nil
		log.Warn("the file of sign-ins is damaged: everybody has to sign in again", "file", file, "error", err)
	}
	for i, x := range s.list {
		s.list[i] = s.withSecret(x)
	}
	s.noteDisk()
	return s, nil
}

func (s *signins) withSecret(x signin) signin {
	x.secret = s.secretFor(x.Cookie)
	x.sum = sumOf(x.secret)
	return x
}

func (s *signins) noteDisk() {
	s.disk = s.disk[:0]
	for _, x := range s.list {
		s.disk = append(s.disk, x.Used)
	}
}

// save writes the living. s.mu is held.
func (s *signins) save(now time.Time) error {
	s.list = slices.DeleteFunc(s.list, func(x signin) bool { return !x.alive(now) })
	if n := len(s.list) - maxSignins; n > 0 {
		s.list = slices.Delete(s.list, 0, n)
	}
	b, err := json.MarshalIndent(s.list, "", "  ")
	if err != nil {
		return err
	}
	if err := writeFile(s.file, b); err != nil {
		return fmt.Errorf("write the sign-ins: %w", err)
	}
	s.noteDisk()
	return nil
}

// add keeps a new sign-in and returns its secret. One that cannot be saved ends with the server.
func (s *signins) add(cookie string, key []byte, place string, now time.Time) (secret string) {
	x := s.withSecret(signin{Cookie: sumOf(cookie), Key: key, Place: place, Created: now.UTC(), Used: now.UTC()})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, x)
	if err := s.save(now); err != nil {
		s.log.Warn("a sign-in ends with the server: it cannot be saved", "error", err)
		s.noteDisk() // as if it were, so that this is tried again with its use
	}
	return x.secret
}

// find returns the living sign-in of place that has the given sum, and counts that as use. All are
// compared, so the time says nothing about which.
func (s *signins) find(of func(signin) sum, want sum, place string, now time.Time) (signin, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := -1
	for i, x := range s.list {
		if of(x).equal(want) && x.Place == place && x.alive(now) {
			found = i
		}
	}
	if found < 0 {
		return signin{}, false
	}
	s.list[found].Used = now.UTC()
	x := s.list[found]
	if now.Sub(s.disk[found]) >= touchEvery {
		if err := s.save(now); err != nil {
			s.log.Warn("sign-ins may end early", "error", err)
			s.noteDisk() // once is enough for the log; try again later
		}
	}
	return x, true
}

// drop revokes those that match.
func (s *signins) drop(match func(signin) bool, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, match)
	return s.save(now)
}

func (s *signins) count(now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, x := range s.list {
		if x.alive(now) {
			n++
		}
	}
	return n
}

func cookieOf(s signin) sum { return s.Cookie }

func secretOf(s signin) sum { return s.sum }
