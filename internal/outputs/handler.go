package outputs

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Bounds of one request.
const (
	MaxHTMLLines   = 5000 // format=html, also rows of a view
	MaxGrepMatches = 1000 // matching lines; the reply says where to go on
	maxPattern     = 1000 // bytes of a grep pattern
	defaultLines   = 500  // format=html without lines

	writeStep     = 1 << 20          // bytes a client must take within writeTimeout
	writeTimeout  = 60 * time.Second //
	followTimeout = 10 * time.Second // the same for what a follower is sent at once
	followPause   = 15 * time.Millisecond
	grepTime      = 2 * time.Second
)

// Handler serves outputs, for GET and HEAD. All replies carry headers that keep a browser from
// running anything in them. The forms:
//
//	(none)                the bytes, as a download: Range, If-Range, ETag, stored zstd or gzip.
//	                      What was left out of a large output is one line "… N bytes (M lines) left out …".
//	?follow=1[&offset=N]  the bytes from the true offset N as they come; ends when the output is complete
//	?format=json          {"id","data","encoding":"utf-8"|"base64","metadata","size","truncated","createdAt","expiresAt"};
//	                      expiresAt is null while it grows
//	?lines=A-B            these lines exactly; also "A" and "A-"
//	?format=html&lines=A-B  the same by HTML; without lines the first 500; at most 5,000
//	?format=html&view=V     a view, see [Views]; its rows are &from=N&rows=N
//	?grep=RE[&lines=A-B]  at most 1,000 lines that match (RE2), each as "N:line"; with format=json
//	                      {"matches":[{"line":N,"text":"…","ranges":[[from,to],…],"column"?:N}],"lines":TOTAL,"next"?:N}
//	?count=RE[&at=N][&within=MS]      [Count]
//	?density=N[&count=RE][&within=MS] [Density]
//	?tokens[&lines=A-B,C-D]           [Price]
//
// HTML covers what looks like a secret, see package veil; veil=0 shows it. With veil=1, lines, searches and
// prices are those of what is shown then, but for the lines in lifted=A-B,C-D.
//
// Of a line longer than 256 KiB, grep searches the beginning. In its JSON, ranges count UTF-16
// units of text, as JavaScript does; a long line's text begins at its byte column. Terminal colours
// and controls are taken out before matching. When there are more matches or time is up, next is
// the line to go on from (lines=N-), in the text form the header Webchat-Next.
//
// Line forms carry Webchat-Lines: A-B/TOTAL, all by numbers as shown, TOTAL being the last one's. A
// refusal is {"error","code"} with status 400; an unknown or expired output always the same 404
// {"error":"Expired"}.
type Handler struct {
	store *Store
	views Views
	log   *slog.Logger
	heavy chan struct{} // a place for each grep or compression at work
}

// NewHandler returns a Handler. log gets no content and no
// id.
func NewHandler(s *Store, v Views, log *slog.Logger) *Handler {
	return &Handler{store: s, views: v, log: log, heavy: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// ServeHTTP serves the output named by the path value "id", or by the last element of the path when
// the router sets none.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if id == "" {
		id = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	}
	h.ServeOutput(w, r, ID(id))
}

// ServeOutput serves one output in the form the query asks for.
func (h *Handler) ServeOutput(w http.ResponseWriter, r *http.Request, id ID) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, r, http.StatusMethodNotAllowed, "method_not_allowed", "Outputs are only read: use GET or HEAD.")
		return
	}
	o, err := h.store.Get(id)
	if err != nil {
		reply(w, r, http.StatusNotFound, expired)
		return
	}
	if r.URL.RawQuery == "" {
		h.raw(w, r, o)
		return
	}
	q, bad := parseQuery(r.URL.RawQuery)
	if bad != "" {
		refuse(w, r, http.StatusBadRequest, "bad_query", bad)
		return
	}
	if q.veil {
		o = o.Veiled()
	}
	switch {
	case q.grep != "":
		h.grep(w, r, o.Text(), q)
	case q.density > 0:
		h.density(w, r, o.Text(), q)
	case q.count != "":
		h.count(w, r, o.Text(), q)
	case q.tokens:
		h.price(w, r, o.Text(), q)
	case q.format == "json":
		h.json(w, r, o)
	case q.format == "html" && q.view != "":
		h.view(w, r, o, q)
	case q.format == "html":
		h.highlighted(w, r, o.Text(), q)
	case q.ranged:
		h.lines(w, r, o.Text(), q)
	case q.follow:
		h.follow(w, r, o, q.offset)
	default:
		h.raw(w, r, o)
	}
}

// expired is the whole answer for an output that is unknown or whose life ended.
const expired = `{"error":"Expired"}`

// refuse answers with a sentence for people and a code for programs.
func refuse(w http.ResponseWriter, r *http.Request, status int, code, sentence string) {
	b, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{sentence, code})
	if err != nil { // two strings always marshal
		b = []byte(`{"error":"The request was refused.","code":"refused"}`)
	}
	reply(w, r, status, string(b))
}

func reply(w http.ResponseWriter, r *http.Request, status int, body string) {
	head := w.Header()
	safeHeaders(head, valJSON, valJSONPolicy, valNoStore)
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		p := &paced{ResponseWriter: w}
		_, _ = p.Write([]byte(body)) // the client is gone if this fails
		p.done()
	}
}

// Header values, made once: they are shared by all replies and never changed.
var (
	valText       = []string{typeText}
	valHTML       = []string{"text/html; charset=utf-8"}
	valJSON       = []string{"application/json; charset=utf-8"}
	valNoSniff    = []string{"nosniff"}
	valSameOrigin = []string{"same-origin"}
	valNoReferrer = []string{"no-referrer"}
	valNoStore    = []string{"private, no-store"}
	valNoCache    = []string{"private, no-cache"}
	valSandbox    = []string{"default-src 'none'; sandbox; frame-ancestors 'none'"}
	valJSONPolicy = []string{"default-src 'none'; frame-ancestors 'none'"}
	valBytes      = []string{"bytes"}
	valVary       = []string{"Accept-Encoding"}
)

func safeHeaders(h http.Header, contentType, policy, caching []string) {
	h["Content-Type"] = contentType
	h["Content-Security-Policy"] = policy
	h["Cache-Control"] = caching
	h["X-Content-Type-Options"] = valNoSniff
	h["Cross-Origin-Resource-Policy"] = valSameOrigin
	h["Referrer-Policy"] = valNoReferrer
}
