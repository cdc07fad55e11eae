package guard

import (
	"html"
	"io"
	"net/http"
	"strings"
)

// Waiting answers for a server that cannot begin yet: /healthz as always, /readyz with a word, and
// everything else, whoever asks for it and under whatever name, with 503 and the sentence that says
// why. A browser asks again by itself. Nothing of a request is looked at but its path and what it
// accepts, and no body is read.
func Waiting(word, code, sentence string) http.Handler {
	const again = "2" // seconds
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
		case (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html"):
			h.Set("Content-Type", "text/html; charset=utf-8")
			h.Set("Retry-After", again)
			h.Set("Refresh", again)
			text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
				`<meta name="color-scheme" content="light dark"><title>webchat</title><h1>Not ready yet</h1><p>` +
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
