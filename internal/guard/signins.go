package guard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"webchat/internal/document"
)

const (
	idleLife  = 12 * time.Hour
	wholeLife = 7 * 24 * time.Hour
	// touchEvery is how much of idleLife a crash may take from a sign-in: the file is not written
	// for each request.
	touchEvery = 10 * time.Minute
	maxSignins = 1000
)

// signin is one browser that signed in. Nothing on the disk signs anyone in.
type signin struct {
	Cookie  sum       `json:"cookie"`
	Key     []byte    `json:"key,omitempty"` // public; see [Guard.Renew]
	Place   string    `json:"place"`         // where it holds
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`

	saved  time.Time // Used as it stands in the file
	secret string    // of this process
	sum    sum       // of secret
}

func (s signin) alive(now time.Time) bool {
	return now.Sub(s.Used) < idleLife && now.Sub(s.Created) < wholeLife
}

// signins is the file of those who are signed in.
type signins struct {
	file string
	life []byte // the key of this process's secrets
	log  *slog.Logger

	mu   sync.Mutex // guards list and the file
	list []signin
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
	s.noteSaved()
	return s, nil
}

// withSecret makes the secret of a sign-in in this process.
func (s *signins) withSecret(x signin) signin {
	mac := hmac.New(sha256.New, s.life)
	_, _ = mac.Write([]byte(x.Cookie)) // a hash takes everything
	x.secret = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
	x.sum = sumOf(x.secret)
	return x
}

func (s *signins) noteSaved() {
	for i := range s.list {
		s.list[i].saved = s.list[i].Used
	}
}

// save writes the living. s.mu is held. After an error it counts as saved, so that the next use
// that is worth it tries again.
func (s *signins) save(now time.Time) error {
	s.list = slices.DeleteFunc(s.list, func(x signin) bool { return !x.alive(now) })
	s.list = s.list[max(0, len(s.list)-maxSignins):]
	s.noteSaved()
	if err := document.WriteJSON(s.file, s.list); err != nil {
		return fmt.Errorf("write the sign-ins: %w", err)
	}
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
	}
	return x.secret
}

// find returns the living sign-in of place that matches, and counts that as use. All are compared,
// so the time does not reveal which.
func (s *signins) find(match func(signin) bool, place string, now time.Time) (signin, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := -1
	for i, x := range s.list {
		if match(x) && x.Place == place && x.alive(now) {
			found = i
		}
	}
	if found < 0 {
		return signin{}, false
	}
	s.list[found].Used = now.UTC()
	x := s.list[found]
	if now.Sub(x.saved) >= touchEvery {
		if err := s.save(now); err != nil {
			s.log.Warn("sign-ins may end early", "error", err)
		}
	}
	return x, true
}

// drop revokes those that match and returns how many of them lived.
func (s *signins) drop(match func(signin) bool, now time.Time) (dropped int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(x signin) bool {
		if match(x) && x.alive(now) {
			dropped++
		}
		return match(x)
	})
	return dropped, s.save(now)
}
