package outputs

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
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

// Handler serves outputs, for GET and HEAD, in the forms of [Forms]. All replies carry headers that
// keep a browser from running anything in them.
//
// HTML covers what looks like a secret, see package veil; veil=0 shows it. With veil=1, lines,
// searches and prices are those of what is shown then, but for the lines in lifted=A-B,C-D.
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

	streaming func(*http.Request) error
}

// NewHandler returns a Handler. streaming is asked before a request is answered as a stream; log
// gets no content and no id.
func NewHandler(s *Store, v Views, streaming func(*http.Request) error, log *slog.Logger) *Handler {
	return &Handler{
		store:     s,
		views:     v,
		streaming: streaming,
		log:       log,
		heavy:     make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
	}
}

// ServeOutput serves an output at its own address: its bytes, or the form that its query asks for.
// An error means that nothing was written.
func (h *Handler) ServeOutput(w http.ResponseWriter, r *http.Request, id ID) error {
	o, err := h.store.Get(id)
	switch {
	case err != nil:
		reply(w, r, http.StatusNotFound, expired)
	case r.URL.RawQuery == "":
		h.bytes(w, r, o, query{})
	default:
		v, err := url.ParseQuery(r.URL.RawQuery)
		return h.serve(w, r, o, formOf(v), v, err)
	}
	return nil
}

// ServeForm serves an output in one form, at the address of that. An error means that nothing was
// written.
func (h *Handler) ServeForm(w http.ResponseWriter, r *http.Request, id ID, f Form) error {
	o, err := h.store.Get(id)
	if err != nil {
		reply(w, r, http.StatusNotFound, expired)
		return nil
	}
	given, err := url.ParseQuery(r.URL.RawQuery)
	v := url.Values{}
	maps.Copy(v, f.is)
	for name := range strings.FieldsSeq(f.Query) {
		if given.Has(name) {
			v[name] = given[name]
		}
	}
	if view := r.PathValue("view"); view != "" {
		v.Set("view", view)
	}
	if f.Needs != "" && !v.Has(f.Needs) {
		refuse(w, r, http.StatusBadRequest, "bad_query", "This form needs the parameter "+f.Needs+".")
		return nil
	}
	return h.serve(w, r, o, f.serve, v, err)
}

// serve serves a form as v asks for it; bad says that v was not the whole query.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, o *Output, f serving, v url.Values,
	bad error) error {
	q, wrong := parseQuery(v)
	if bad != nil {
		wrong = "The query cannot be parsed: encode it as key=value pairs."
	}
	if wrong != "" {
		refuse(w, r, http.StatusBadRequest, "bad_query", wrong)
		return nil
	}
	if q.follow {
		if err := h.streaming(r); err != nil {
			return err
		}
	}
	if q.veil {
		o = o.Veiled()
	}
	f(h, w, r, o, q)
	return nil
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
