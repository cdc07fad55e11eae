package guard

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/document"
)

// minToken is the least length of an API token: 128 bits in base 32 or longer.
const minToken = 26

// apiToken reads the token file, or makes it.
func apiToken(name string, log *slog.Logger) (string, error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		token := rand.Text()
		if err := document.Write(name, []byte(token+"\n")); err != nil {
			return "", fmt.Errorf("make the API token: %w", err)
		}
		return token, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the API token: %w", err)
	}
	token := string(bytes.TrimSpace(b))
	if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s does not hold an API token of at least %d printable characters: delete it and start again, and a new one is made", name, minToken)
	}
	if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		log.Warn("other users of this machine may be able to read the API token; run chmod 600", "file", name)
	}
	return token, nil
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
	maxLaunch  = 100 // links printed and not used; the oldest go first
)

// launches are the secrets that sign one browser in.
type launches struct {
	mu   sync.Mutex // guards list
	list []launched // oldest first
}

type launched struct {
	sum  sum
	made time.Time
}

func (l *launches) create(now time.Time) string {
	secret := rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, launched{sumOf(secret), now})
	l.list = slices.Delete(l.list, 0, max(0, len(l.list)-maxLaunch))
	return secret
}

// spend reports whether the secret was good, and makes it void.
func (l *launches) spend(secret string, now time.Time) (good bool) {
	s := sumOf(secret)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(x launched) bool {
		old, this := now.Sub(x.made) >= launchLife, x.sum.equal(s)
		good = good || this && !old
		return old || this
	})
	return good
}

func (l *launches) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}
