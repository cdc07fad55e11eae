package guard

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What follows lets people sign in as themselves: something that knows them vouches for a user, and
// gets a sign-in link in that user's name. Cookies, secrets and what they may do are those of every
// sign-in.

// Users says who people are. [Guard.SignInAs] asks it.
type Users interface {
	// Begin answers a request to sign in: it returns a user, or sends the browser elsewhere.
	Begin(w http.ResponseWriter, r *http.Request, at Place) (user string, err error)
}

// Place is where the server is, as browsers reach it.
type Place struct {
	URL    string // the public URL; empty: none
	Base   string // its path, usually empty
	Secure bool   // it is https
	// Derive returns a secret for a purpose, the same in every program with this API token.
	Derive func(purpose string) string
}

var (
	// ErrIdentity is returned for a request that does not prove who its sender is.
	ErrIdentity = errors.New(
		"your sign-in could not be confirmed: open the address of this server again, or ask who runs it")
	// ErrEnded is returned for a sign-in that took too long or was finished before.
	ErrEnded = errors.New("this sign-in has ended: open the address of this server and begin again")
)

// maxUser is the most bytes of a user's name.
const maxUser = 254

// checkUser refuses what cannot be a user's name: it is shown, compared and stored.
func checkUser(name string) error {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) }
	if name == "" || len(name) > maxUser || !utf8.ValidString(name) ||
		strings.TrimSpace(name) != name || strings.ContainsFunc(name, hidden) {
		return fmt.Errorf("the name of a user is empty, longer than %d bytes or not plain text", maxUser)
	}
	return nil
}

// Shared reports whether people sign in as themselves.
func (g *Guard) Shared() bool { return g.config.Users != nil }

// SignInAs lets [Config.Users] say who a person is and sends the browser to a sign-in link in that
// user's name, which works in this browser only: in another person's, that person would work as the
// user without knowing. It fails with [ErrIdentity], [ErrEnded] or [ErrProvider]; the reason is
// logged, once a minute at most.
func (g *Guard) SignInAs(w http.ResponseWriter, r *http.Request) error {
	at := Place{Base: g.Base(), Secure: g.Secure(), Derive: g.derived}
	if g.public != nil {
		at.URL = g.public.String()
	}
	user, err := g.config.Users.Begin(w, r, at)
	if err == nil && user == "" {
		return nil // it has answered
	}
	if err == nil {
		err = checkUser(user)
	}
	if err != nil {
		if g.seldom() {
			g.config.Logger.Warn("a sign-in was refused", "why", err)
		}
		for _, known := range []error{ErrEnded, ErrProvider} {
			if errors.Is(err, known) {
				return known
			}
		}
		return ErrIdentity
	}
	c := g.linkCookie(r)
	// another tab may sign in, too
	c.Value, c.MaxAge = cmp.Or(c.Value, rand.Text()), int(launchLife.Seconds())
	http.SetCookie(w, c)
	http.Redirect(w, r, at.Base+"/auth#t="+g.launch(user, sumOf(c.Value)), http.StatusSeeOther)
	return nil
}

// linkCookie marks the browser that a user's link is made for, as r has it; its value is empty if r
// has none. It is lax, because the provider sends the browser here from another site.
func (g *Guard) linkCookie(r *http.Request) *http.Cookie {
	c := g.cookie(r)
	c.Name += ".link" // no path of a public URL has a dot
	c.SameSite = http.SameSiteLaxMode
	if sent, err := r.Cookie(c.Name); err == nil {
		c.Value = sent.Value
	}
	return c
}

// Header believes a proxy that says in one header who somebody is and proves itself by a key in
// another, [KeyHeader]. A client that has the key can sign in as anybody.
type Header struct {
	Name string
	key  sum
}

// KeyHeader is where a proxy sends its key.
const KeyHeader = "Webchat-Identity-Key"

var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// CheckHeaderName refuses what no proxy can say who somebody is in.
func CheckHeaderName(name string) error {
	switch canonical := textproto.CanonicalMIMEHeaderKey(name); {
	case len(name) > 100 || !headerName.MatchString(name):
		return errors.New("the name of a header has letters, digits and -")
	case slices.Contains([]string{KeyHeader, "Authorization", "Cookie", "Host", "Origin"}, canonical):
		return fmt.Errorf("the header %s has a use of its own", canonical)
	}
	return nil
}

// NewHeader reads the key from a file, or makes it.
func NewHeader(name, keyFile string, log *slog.Logger) (*Header, error) {
	key, err := secretFile(keyFile, "key", log)
	if err != nil {
		return nil, err
	}
	return &Header{textproto.CanonicalMIMEHeaderKey(name), sumOf(key)}, nil
}

// Begin implements [Users].
func (h *Header) Begin(_ http.ResponseWriter, r *http.Request, _ Place) (user string, err error) {
	keys, names := r.Header[KeyHeader], r.Header[h.Name]
	switch {
	case len(keys) != 1:
		return "", fmt.Errorf("%d headers %s, not one", len(keys), KeyHeader)
	case !sumOf(keys[0]).equal(h.key):
		return "", fmt.Errorf("the key in %s is not that of --identity-key-file", KeyHeader)
	case len(names) != 1:
		return "", fmt.Errorf("%d headers %s, not one", len(names), h.Name)
	}
	return names[0], checkUser(names[0])
}

// personal is an API token of a user.
type personal struct {
	Sum  sum       `json:"sum"`
	User string    `json:"user"`
	Made time.Time `json:"made"`
}

const maxTokens = 20 // of one user

// NewToken returns an API token of a user, which holds until it is revoked. It is for programs that
// act as the user; MCP clients have tokens of their own.
func (g *Guard) NewToken(user string) (token string, err error) {
	if !g.Shared() {
		return "",
			errors.New(
				"this server has no users: start it with --identity, or use the token that \"webchat token\" " +
					"prints")
	}
	if err := checkUser(user); err != nil {
		return "", err
	}
	token = rand.Text()
	full := false
	err = g.tokens.Change(func(all []personal) []personal {
		n := 0
		for _, x := range all {
			if x.User == user {
				n++
			}
		}
		if full = n >= maxTokens; full {
			return all
		}
		return append(slices.Clone(all), personal{sumOf(token), user, g.config.Now().UTC()})
	})
	if full {
		return "", fmt.Errorf("%s has %d tokens: \"webchat logout --user\" ends them", user, maxTokens)
	}
	if err != nil {
		return "", fmt.Errorf("the token cannot be saved: %w", err)
	}
	return token, nil
}

// tokenOf says whose token that is. All are compared, so the time does not reveal which.
func (g *Guard) tokenOf(bearer string) (user string, ok bool) {
	got := sumOf(bearer)
	for _, x := range g.tokens.Get() {
		if x.Sum.equal(got) {
			user, ok = x.User, true
		}
	}
	return user, ok
}

// visitor is whom the guard let pass.
type visitor struct {
	user  string
	known bool // by credentials
}

type visitorKey struct{}

func (v visitor) on(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// Visitor returns of which user a request is that [Guard.Class] let pass, empty for who runs the
// server. known is false for a stranger.
func Visitor(r *http.Request) (user string, known bool) {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v.user, v.known
}
