package guard

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"strings"
)

// waitingStyle has the page of [Waiting] look like our other small pages: it can load nothing.
const waitingStyle = `:root{color-scheme:light dark;background:light-dark(#fff,#131416);color:light-dark(#191a18,#e9eaeb)}` +
	`body{box-sizing:border-box;display:grid;align-content:center;gap:16px;max-width:520px;min-height:100dvh;margin:0 auto;padding:32px 24px;` +
	`font:15px/24px system-ui,sans-serif}b{font-size:13px;font-weight:600}h1{margin:0;font-size:26px;line-height:32px;font-weight:600;letter-spacing:-.022em}` +
	`p{margin:0;color:light-dark(#4e514b,#aab0b6)}`

// Waiting answers for a server that cannot begin yet: /healthz as always, /readyz with a word, and
// everything else, from any caller and under any host name, with 503 and the sentence that says
// why. A browser asks again by itself. Nothing of a request is looked at but its path and what it
// accepts, and no body is read.
func Waiting(word, code, sentence string) http.Handler {
	const again = "2" // seconds
	sum := sha256.Sum256([]byte(waitingStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		placeOf(r.Context()).answers()
		h := w.Header()
		setHeaders(h, dataHeaders)
		if hasBody(r) {
			h.Set("Connection", "close") // net/http would wait for it
		}
		status, text := http.StatusServiceUnavailable, word+"\n"
		h.Set("Content-Type", "text/plain; charset=utf-8")
		switch {
		case r.URL.Path == "/healthz":
			status, text = http.StatusOK, "ok\n"
		case r.URL.Path == "/readyz":
		case (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
			strings.Contains(r.Header.Get("Accept"), "text/html"):
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Content-Security-Policy", policy)
			h.Set("Retry-After", again)
			h.Set("Refresh", again)
			text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
				`<meta name="color-scheme" content="light dark"><title>webchat</title><style>` + waitingStyle +
				`</style><b>webchat</b><h1>Not ready yet</h1><p>` +
				html.EscapeString(sentence) + ` This page tries again by itself.</p></html>` + "\n"
		default:
			h.Set("Retry-After", again)
			refuse(w, status, code, sentence)
			return
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // a client that has gone needs no answer
	})
}
