package guard

import "net/http"

type header struct{ name, value string }

func setHeaders(h http.Header, list []header) {
	for _, x := range list {
		h.Set(x.name, x.value)
	}
}

// dataHeaders go with every reply; the lists below replace some of them.
var dataHeaders = []header{
	{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Frame-Options", "DENY"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
}

// pagePolicy lets a page use what this server delivered and nothing else. 'self' is safe because no
// GET does anything.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' " +
	"blob:; media-src 'self'; font-src 'self'; " +
	"connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action " +
	"'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types webchat"

var pageHeaders = []header{
	{"Content-Security-Policy", pagePolicy},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Permissions-Policy",
		"camera=(), microphone=(), geolocation=(), usb=(), serial=(), clipboard-read=()"},
	{"X-DNS-Prefetch-Control", "off"},
}

// staticHeaders hold the page's policy because a worker runs under the policy its own script came
// with.
var staticHeaders = []header{
	{"Content-Security-Policy", pagePolicy},
	{"Cache-Control", "no-cache"},
}

// frameHeaders are for what others wrote as HTML: it has an origin of its own, runs no script,
// sends no form, loads nothing, and is seen within our pages only. A page's frame-src keeps its
// links inside.
var frameHeaders = []header{
	{"Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri " +
			"'none'; " +
			"form-action 'none'; frame-ancestors 'self'; sandbox"},
	{"X-Frame-Options", "SAMEORIGIN"},
	{"X-DNS-Prefetch-Control", "off"},
	{"Cache-Control", "no-store"},
}

var outputHeaders = []header{
	{"Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"},
	{"Cache-Control", "private, no-cache"},
}
