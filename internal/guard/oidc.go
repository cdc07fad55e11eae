package guard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	exact "github.com/go-json-experiment/json"
	"golang.org/x/oauth2"
)

// ErrProvider is returned while the identity provider does not answer.
var ErrProvider = errors.New("the service that signs you in does not answer: try again in a moment")

const (
	oidcLife  = 10 * time.Minute // from the begin of a sign-in to its end
	oidcTime  = 10 * time.Second // for one question to the provider
	oidcPause = 5 * time.Second  // after it did not answer
	oidcMost  = 1 << 20          // bytes of its answer
)

// OIDCConfig says which OpenID Connect provider knows people, and whom of them to let in.
type OIDCConfig struct {
	Issuer     string // a URL
	ClientID   string
	SecretFile string   // holds the client's secret
	Allowed    []string // @DOMAIN of a confirmed address, or group:NAME
	Now        func() time.Time
}

// OIDC has a provider of OpenID Connect say who somebody is: authorization code, PKCE, a nonce. The
// person is the confirmed address of the ID token.
//
// Nothing is kept of a sign-in that has begun: state, nonce and verifier follow from what its
// cookie holds and the API token. The cookie is Lax, since the provider's page leads back here, and
// admits to nothing.
type OIDC struct {
	config OIDCConfig
	secret string
	client *http.Client

	mu       sync.Mutex // guards what follows
	provider *oidc.Provider
	failed   time.Time // when it did not answer
}

// CheckAllowed refuses a configuration without a rule about who may sign in.
func CheckAllowed(entry string) error {
	domain, isDomain := strings.CutPrefix(entry, "@")
	group, isGroup := strings.CutPrefix(entry, "group:")
	if isDomain && domain != "" && !strings.ContainsAny(domain, "@ ") || isGroup && group != "" {
		return nil
	}
	return errors.New("it must be @DOMAIN, such as @example.com, or group:NAME")
}

// NewOIDC reads the secret. The provider is asked when somebody signs in.
func NewOIDC(c OIDCConfig, log *slog.Logger) (*OIDC, error) {
	secret, err := readSecret(c.SecretFile, "client's secret", 8,
		"write the one there that the provider gave you", log)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	client := &http.Client{
		Timeout:   oidcTime,
		Transport: bounded{},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if u := via[0].URL; r.URL.Scheme != u.Scheme || r.URL.Host != u.Host || len(via) > 3 {
				return http.ErrUseLastResponse // the client's secret is not for others
			}
			return nil
		},
	}
	return &OIDC{config: c, secret: secret, client: client}, nil
}

// bounded cuts answers that are longer than any provider's.
type bounded struct{}

// RoundTrip implements [http.RoundTripper].
func (bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, oidcMost)
	}
	return res, err
}

// found asks the provider for its addresses and keys, once.
func (o *OIDC) found(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider == nil {
		if o.config.Now().Sub(o.failed) < oidcPause {
			return nil, ErrProvider
		}
		p, err := oidc.NewProvider(ctx, o.config.Issuer)
		if err != nil {
			o.failed = o.config.Now()
			return nil, fmt.Errorf("%w: %w", ErrProvider, err)
		}
		o.provider = p
	}
	return o.provider, nil
}

// trip is a sign-in that has begun.
type trip struct{ state, nonce, verifier string }

// tripOf derives everything of a sign-in from its seed.
func tripOf(seed string, at Place) trip {
	of := func(purpose string) string { return at.Derive("oidc " + purpose + " " + seed) }
	return trip{of("state"), of("nonce"), of("verifier") + of("verifier, the rest")}
}

func (o *OIDC) cookie(at Place) *http.Cookie {
	c := &http.Cookie{
		Name:     "webchat_oidc",
		Path:     "/",
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
		Secure:   at.Secure,
	}
	if at.Secure {
		c.Name = "__Host-webchat_oidc"
	}
	c.Name += strings.ReplaceAll(at.Base, "/", "_")
	return c
}

// Begin implements [Users]: it sends the browser to the provider, and says who came back.
func (o *OIDC) Begin(w http.ResponseWriter, r *http.Request, at Place) (user string, err error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(r.Context(), o.client), 2*oidcTime)
	defer cancel()
	if q := r.URL.Query(); q.Has("state") || q.Has("code") || q.Has("error") {
		user, err = o.end(ctx, r, at)
		if err == nil {
			c := o.cookie(at)
			c.MaxAge = -1
			http.SetCookie(w, c)
		}
		return user, err
	}
	p, err := o.found(ctx)
	if err != nil {
		return "", err
	}
	c := o.cookie(at)
	c.Value, c.MaxAge = rand.Text()+"."+strconv.FormatInt(o.config.Now().Unix(), 10),
		int(oidcLife.Seconds())
	http.SetCookie(w, c)
	t := tripOf(c.Value, at)
	http.Redirect(w, r, o.oauth(p, at).AuthCodeURL(t.state, oidc.Nonce(t.nonce),
		oauth2.S256ChallengeOption(t.verifier)), http.StatusSeeOther)
	return "", nil
}

func (o *OIDC) oauth(p *oidc.Provider, at Place) *oauth2.Config {
	c := &oauth2.Config{
		ClientID:     o.config.ClientID,
		ClientSecret: o.secret,
		Endpoint:     p.Endpoint(),
		RedirectURL:  at.URL + "/auth/user",
		Scopes:       []string{oidc.ScopeOpenID, "email"},
	}
	var can struct {
		Scopes []string `json:"scopes_supported"`
	}
	if p.Claims(&can) == nil && slices.Contains(can.Scopes, "groups") &&
		slices.ContainsFunc(o.config.Allowed, func(a string) bool {
			return strings.HasPrefix(a, "group:")
		}) {
		c.Scopes = append(c.Scopes, "groups")
	}
	return c
}

// end says who came back from the provider.
func (o *OIDC) end(ctx context.Context, r *http.Request, at Place) (user string, err error) {
	sent := r.CookiesNamed(o.cookie(at).Name)
	if len(sent) != 1 {
		return "", fmt.Errorf("%w: it has %d cookies of its begin", ErrEnded, len(sent))
	}
	_, begun, _ := strings.Cut(sent[0].Value, ".")
	seconds, err := strconv.ParseInt(begun, 10, 64)
	if age := o.config.Now().Sub(time.Unix(seconds, 0)); err != nil || age < 0 || age >= oidcLife {
		return "", fmt.Errorf("%w: it began too long ago", ErrEnded)
	}
	t, q := tripOf(sent[0].Value, at), r.URL.Query()
	if len(q["state"]) != 1 || subtle.ConstantTimeCompare([]byte(q.Get("state")),
		[]byte(t.state)) != 1 {
		return "", errors.New("its state is not that of its begin")
	}
	if q.Has("error") || len(q["code"]) != 1 {
		return "", errors.New("the provider sent no code")
	}
	p, err := o.found(ctx)
	if err != nil {
		return "", err
	}
	token, err := o.oauth(p, at).Exchange(ctx, q.Get("code"), oauth2.VerifierOption(t.verifier))
	// its text may quote what was sent
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "", fmt.Errorf("the provider refused the code with status %d", refused.Response.StatusCode)
	}
	if err != nil {
		return "", fmt.Errorf("%w: the code was not exchanged", ErrProvider)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.VerifierContext(ctx, &oidc.Config{
		ClientID: o.config.ClientID,
		Now:      o.config.Now,
	}).Verify(ctx, raw)
	if expired, ok := errors.AsType[*oidc.TokenExpiredError](err); ok {
		return "", fmt.Errorf("%w: its ID token expired at %v", ErrEnded, expired.Expiry.UTC())
	}
	if err != nil {
		return "", fmt.Errorf("the ID token does not hold: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(t.nonce)) != 1 {
		return "", errors.New("the nonce of the ID token is not that of its begin")
	}
	return o.person(id)
}

// lower has small letters for A to Z, and no other letter for one of those: K, the sign of kelvin,
// is not k.
func lower(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// person is whom an ID token names, if that one may sign in. A claim counts by its exact name: one
// called Email may be what a person wrote about themselves.
func (o *OIDC) person(id *oidc.IDToken) (string, error) {
	var c struct {
		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		Groups   []string `json:"groups"`
	}
	var raw json.RawMessage
	if id.Claims(&raw) != nil || exact.Unmarshal(raw, &c) != nil {
		return "", errors.New("the claims of the ID token are not understood")
	}
	name, domain, ok := strings.Cut(c.Email, "@")
	switch {
	case !ok || name == "" || strings.Contains(domain, "@") || checkUser(c.Email) != nil:
		return "", errors.New("the ID token has no address, or one that is none")
	case !c.Verified:
		return "", errors.New("the provider has not confirmed the address")
	}
	for _, a := range o.config.Allowed {
		group, isGroup := strings.CutPrefix(a, "group:")
		if isGroup && slices.Contains(c.Groups, group) || !isGroup && lower(a) == "@"+lower(domain) {
			return c.Email, nil
		}
	}
	return "", errors.New("the person is not among those who are allowed")
}
