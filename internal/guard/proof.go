package guard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"math/big"
	"net"
	"net/http"
	"strconv"
)

var (
	// ErrKey is returned for a key that is no point of the curve P-256.
	ErrKey = errors.New("the key must be an uncompressed point of P-256 in base64: sign in again, or leave it out")
	// ErrProof is returned for a proof that is none: the browser has to sign in again.
	ErrProof = errors.New("this browser's sign-in has ended: open the link that \"webchat url\" prints")
)

// What follows keeps a secret that a browser stored from being worth anything once the server has
// gone, when another program may listen on the port and read it. The secret ends with the process.
// A browser that signed in with a key of its own, of which the private half cannot be read by
// anybody, gets the next one for a signature on the challenge of that process, which was not known
// before it began.

// Challenge is what a browser signs to get another secret. Each Guard has its own.
func (g *Guard) Challenge() string { return g.challenge }

// Renew returns the secret of a browser that has the cookie of a sign-in and proves to have its
// key. signature is r and s, 32 bytes each, of ECDSA with SHA-256 over "webchat sign-in " and the
// challenge, as Web Cryptography makes it.
func (g *Guard) Renew(r *http.Request, signature []byte) (secret string, err error) {
	c, err := r.Cookie(g.cookie(r).Name)
	if err != nil {
		return "", ErrProof
	}
	s, ok := g.signins.find(cookieOf, sumOf(c.Value), g.place(r), g.config.Now())
	if !ok || !verifies(s.Key, signature, "webchat sign-in "+g.challenge) {
		return "", ErrProof
	}
	return s.secret, nil
}

func verifies(key, signature []byte, text string) bool {
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), key)
	if err != nil || len(signature) != 64 {
		return false
	}
	sum := sha256.Sum256([]byte(text))
	return ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

// place is where a sign-in holds: the public URL, or the port that this server listens on. It is
// not what the request says: that is whatever its sender likes.
func (g *Guard) place(r *http.Request) string {
	if g.public != nil {
		return g.public.String()
	}
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		return "port " + strconv.Itoa(a.Port)
	}
	return ""
}

// secretFor makes the secret of a sign-in in this process.
func (s *signins) secretFor(cookie sum) string {
	mac := hmac.New(sha256.New, s.life)
	mac.Write(cookie[:])
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
}
