package guard

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"webchat/internal/document"
)

// minToken is the least length of a secret in a file: 128 bits in base 32 or longer.
const minToken = 26

// secretFile reads a file that holds a secret, such as the API token, or makes it.
func secretFile(name, what string, log *slog.Logger) (string, error) {
	secret, err := readSecret(name, what, minToken, "delete it and start again, and a new one is made",
		log)
	if errors.Is(err, fs.ErrNotExist) {
		secret = rand.Text()
		if err = document.Write(name, []byte(secret+"\n")); err != nil {
			return "", fmt.Errorf("make the %s: %w", what, err)
		}
	}
	return secret, err
}

// readSecret reads a file that holds a secret of at least so many characters; otherwise is what to
// do about one that does not.
func readSecret(name, what string, least int, otherwise string, log *slog.Logger) (string, error) {
	secret, err := ReadKey(name, what, log)
	if err != nil {
		return "", fmt.Errorf("read the %s: %w", what, err)
	}
	if len(secret) < least || strings.ContainsFunc(secret, func(r rune) bool {
		return r <= ' ' || r > '~'
	}) {
		return "", fmt.Errorf("%s does not hold the %s, which has at least %d printable characters: %s",
			name, what, least, otherwise)
	}
	return secret, nil
}

// ReadKey reads a file that holds a key, a password or a token, without the blanks around it. A
// file that other users may write to is refused, since they could put a key of theirs there; one
// that they may read is logged. The error is a [fs.PathError].
func ReadKey(name, what string, log *slog.Logger) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	switch mode := info.Mode().Perm(); {
	case runtime.GOOS == "windows":
	case mode&0o022 != 0:
		return "", &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("other users of this machine "+
			"may write to it; look whether it still holds the %s, and run chmod 600", what)}
	case mode&0o077 != 0:
		log.Warn("other users of this machine may be able to read the "+what+"; run chmod 600", "file",
			name)
	}
	b, err := io.ReadAll(f)
	return string(bytes.TrimSpace(b)), err
}

// sum is what is kept and compared of a secret: its SHA-256 sum in hexadecimal.
type sum string

func sumOf(secret string) sum {
	of := sha256.Sum256([]byte(secret))
	return sum(hex.EncodeToString(of[:]))
}

func (s sum) equal(t sum) bool { return subtle.ConstantTimeCompare([]byte(s), []byte(t)) == 1 }

const (
	launchLife = 10 * time.Minute
	maxLaunch  = 300 // links made and not used; the oldest go first, of the user who has most
)

// launched is the secret of a link, which signs one browser in until the next start.
type launched struct {
	Sum  sum    `json:"sum"`            // with the number of this start
	User string `json:"user,omitempty"` // whom it signs in; empty: who runs the server
	// Browser is the sum of the cookie of the only one that it signs in; empty: any.
	Browser sum       `json:"browser,omitempty"`
	Made    time.Time `json:"made"`
}

// launch returns a secret for a user, which only that browser can spend, if it is not empty. One
// that cannot be saved holds as long as the server.
func (g *Guard) launch(user string, browser sum) string {
	secret := rand.Text()
	_ = g.launches.Hold(func(all []launched) []launched {
		now := g.config.Now()
		all = slices.DeleteFunc(slices.Clone(all), func(x launched) bool {
			return now.Sub(x.Made) >= launchLife
		})
		if len(all) >= maxLaunch {
			all = withoutOne(all, func(x launched) string { return x.User })
		}
		return append(all, launched{sumOf(g.start + secret), user, browser, now.UTC()})
	})
	return secret
}

// withoutOne drops the oldest of the user who has most: one user cannot push out another's by
// making many.
func withoutOne[T any](all []T, user func(T) string) []T {
	of, most := map[string]int{}, 0
	for _, x := range all {
		of[user(x)]++
		most = max(most, of[user(x)])
	}
	i := slices.IndexFunc(all, func(x T) bool { return of[user(x)] == most })
	return slices.Delete(all, i, i+1)
}

// spend reports whom a secret signs in and whether it was good for that browser, and makes it void
// if it was; while that cannot be saved, for this program, and the next start makes all void. Where
// other servers know the secret too, it is not good.
func (g *Guard) spend(secret string, browser sum) (user string, good bool) {
	s, now := sumOf(g.start+secret), g.config.Now()
	_ = g.launches.Latest() // another server may have made it
	// nil, if none is left: as before the first
	err := g.launches.Hold(func(all []launched) (rest []launched) {
		user, good = "", false
		for _, x := range all {
			old, this := now.Sub(x.Made) >= launchLife, x.Sum.equal(s) &&
				(x.Browser == "" || x.Browser.equal(browser))
			if this && !old {
				user, good = x.User, true
			} else if !old {
				rest = append(rest, x)
			}
		}
		return rest
	})
	return user, good && (err == nil || g.config.Start == "")
}
