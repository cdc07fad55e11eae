package render

import (
	"net/url"
	"strings"
)

// OpenLink is the start of a link that opens an address, which [SafeAddress] returned, in a window
// of its own.
func OpenLink(address string) string {
	return `<a href="` + EscapeText(address) + `" rel="noopener noreferrer" target="_blank">`
}

// SafeAddress returns an address if it may be followed: whole, of a scheme that opens a page or a
// mail, in plain ASCII.
func SafeAddress(address string) (string, bool) {
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f {
			return "", false
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return address, u.Host != ""
	case "mailto":
		return address, u.Opaque != ""
	}
	return "", false
}
