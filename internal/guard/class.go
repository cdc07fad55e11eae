package guard

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"webchat/internal/wording"
)

// Class says what a route asks of those who call it.
type Class int

// The classes. The zero Class refuses everything.
const (
	// Public needs no credentials: whether the server lives, signing in.
	Public Class = iota + 1
	// Static is a file of the program: no credentials.
	Static
	// Door is a page for those who are not signed in.
	Door
	// Page is a page: sign-in cookie.
	Page
	// Read gives data: sign-in cookie or bearer.
	Read
	// Write acts: bearer only, JSON up to MaxBody.
	Write
	// Upload takes an attachment: bearer only, a picture or text up to MaxUpload.
	Upload
	// MCP is the Model Context Protocol: bearer only, also one for this class alone, and JSON up to
	// MaxBody. A refusal is logged, since clients show it as something else.
	MCP
	// Output gives an output, whose unguessable id is the credential.
	Output
	// Frame gives the page that a frame of ours shows: the id of the output is the credential, and the
	// page that draws diagrams is the same for all.
	Frame
)

// Limits of request bodies, in bytes.
const (
	MaxBody   = 1 << 20
	MaxUpload = 20 << 20
)

// lookEvery is the time between two looks at whether who is being answered is still signed in.
const lookEvery = 5 * time.Second

// demand is what a class asks.
type demand struct {
	name    string
	headers []header
	// the reply is data: a browser may ask only for its own page
	fetch bool
	// a refusal is for a person, and the name is localhost
	person bool
	// which users are refused as well; nil: none
	who  func(*Guard, *http.Request) (user string, ok bool)
	may  func(*Guard, *http.Request) (user string, ok bool) // which users are let through; nil: none
	body int64                                              // the most that it may have, in bytes
	// what to send when who refuses; empty: see whoHint. It is logged, too
	hint string
}

const (
	wantJSON = "Send the body as JSON, with the header \"Content-Type: application/json\"."
	hintMCP  = "This needs a token for MCP: run \"webchat mcp install\", or send the header " +
		"\"Authorization: Bearer $(webchat token --mcp)\"."
	wantFile = "Send the bytes of an image or a text as the body, with a header such as " +
		"\"Content-Type: image/png\" or \"Content-Type: text/plain\"."
)

var demands = map[Class]demand{
	Public: {name: "Public", body: maxStranger},
	Static: {name: "Static", body: maxStranger, headers: staticHeaders},
	Door:   {name: "Door", body: maxStranger, headers: pageHeaders, person: true},
	Page: {
		name:    "Page",
		body:    maxStranger,
		headers: pageHeaders,
		person:  true,
		who:     (*Guard).mayRead,
	},
	Read:   {name: "Read", body: maxStranger, fetch: true, who: (*Guard).mayRead},
	Write:  {name: "Write", body: MaxBody, fetch: true, who: (*Guard).mayWrite},
	Upload: {name: "Upload", body: MaxUpload, fetch: true, who: (*Guard).mayWrite},
	MCP:    {name: "MCP", body: MaxBody, fetch: true, who: (*Guard).mayMCP, hint: hintMCP},
	Output: {name: "Output", body: maxStranger, headers: outputHeaders, fetch: true},
	Frame:  {name: "Frame", body: maxStranger, headers: frameHeaders, fetch: true},
}

// String returns the name of the class.
func (c Class) String() string {
	if d, ok := demands[c]; ok {
		return d.name
	}
	return fmt.Sprintf("Class(%d)", int(c))
}

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { _, ok := demands[c]; return ok }

// Class returns the middleware of a class, for routes the router has matched.
func (g *Guard) Class(c Class) func(http.Handler) http.Handler {
	d, ok := demands[c]
	if !ok {
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				refuse(w, http.StatusForbidden, "no_class", "This route has no class and is closed.")
			})
		}
	}
	shared := g.Shared()
	if d.may = d.who; d.who == nil && shared {
		d.may = (*Guard).mayRead
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v, ok := g.passes(w, r, d)
			if !ok {
				return
			}
			if v.user != "" || shared {
				r = v.on(r)
			}
			if v.known && !g.config.NoAuth {
				during, done := g.whileSignedIn(r, v, d.may)
				defer done()
				r = during
			}
			next.ServeHTTP(w, r)
		})
	}
}

// whileSignedIn ends a request, such as a stream, soon after the credentials it came with: somebody
// signed out, or the sign-in is too old. done has to be called when it is answered.
func (g *Guard) whileSignedIn(r *http.Request, v visitor,
	who func(*Guard, *http.Request) (string, bool)) (_ *http.Request, done func()) {
	ctx, cancel := context.WithCancel(r.Context())
	look := r.WithContext(context.WithValue(r.Context(), noUse{}, true))
	// a handler may change its own
	look.Header = http.Header{"Authorization": r.Header["Authorization"], "Cookie": r.Header["Cookie"]}
	begun := make(chan struct{})
	var again *time.Timer
	again = time.AfterFunc(lookEvery, func() {
		<-begun
		if user, ok := who(g, look); !ok || user != v.user {
			cancel()
		} else if ctx.Err() == nil {
			again.Reset(lookEvery)
		}
	})
	close(begun)
	return r.WithContext(ctx), func() { again.Stop(); cancel() }
}

// seldom reports once a minute at most that something is to be logged which strangers can cause.
func (g *Guard) seldom() bool {
	now, last := g.config.Now().Unix(), g.warned.Load()
	return now-last >= 60 && g.warned.CompareAndSwap(last, now)
}

// passes applies a class's demands, and answers when one is not met. It returns whom it let pass.
func (g *Guard) passes(w http.ResponseWriter, r *http.Request, d demand) (v visitor, ok bool) {
	setHeaders(w.Header(), d.headers)
	if d.person {
		if to, ok := g.elsewhere(r); ok {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return v, false
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); d.fetch && site != "" && site != "same-origin" &&
		site != "none" {
		refuse(w, http.StatusForbidden, "cross_site", "Data is not given to pages of another site.")
		return v, false
	}
	if d.may != nil {
		v.user, v.known = d.may(g, r)
	}
	if d.who != nil && !g.config.NoAuth && !v.known {
		w.Header().Set("WWW-Authenticate", "Bearer")
		hint := d.hint
		if hint == "" {
			hint = g.whoHint(r)
		} else if g.seldom() {
			g.config.Logger.Warn(
				"a program without a valid token was refused: most MCP clients say that they need "+
					"authorization", "class", d.name, "do", hint)
		}
		g.refuse(w, r, d, http.StatusUnauthorized, "unauthorized", hint)
		return v, false
	}
	if r.ContentLength != 0 {
		if status, code, sentence := checkBody(w, r, d); status != 0 {
			g.refuse(w, r, d, status, code, sentence)
			return v, false
		}
	}
	return v, true
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, d demand, status int, code,
	sentence string) {
	if d.person {
		g.config.Refuse(w, r, status, code, sentence)
		return
	}
	refuse(w, status, code, sentence)
}

func (g *Guard) whoHint(r *http.Request) string {
	const how = "send the header \"Authorization: Bearer $(webchat token)\", or open the link that " +
		"\"webchat url\" prints."
	if _, ok := g.signedIn(r); ok {
		return "A cookie may read but not act: " + how
	}
	return "Not signed in: " + how
}

// TooLarge says that a body has more than limit bytes.
func TooLarge(limit int64) string {
	return "The body is too large: it may have at most " + wording.Limit(limit) + "."
}

// checkBody bounds the body, and refuses what no route of the class can read. A request without a
// body needs no media type.
func checkBody(w http.ResponseWriter, r *http.Request,
	d demand) (status int, code, sentence string) {
	if !hasBody(r) {
		return 0, "", ""
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" &&
		!strings.EqualFold(coding, "identity") {
		return http.StatusUnsupportedMediaType, "content_encoding",
			"Send the body as it is, without Content-Encoding."
	}
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	kind, _, _ := strings.Cut(mediaType, "/")
	ok, want := mediaType == "application/json", wantJSON
	if d.body == MaxUpload { // what a browser may call a picture or a text; the bytes decide later
		ok, want = ok || kind == "image" || kind == "text" || mediaType == "application/octet-stream",
			wantFile
	}
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || !ok {
		return http.StatusUnsupportedMediaType, "media_type", want
	}
	if r.ContentLength > d.body {
		return http.StatusRequestEntityTooLarge, "too_large", TooLarge(d.body)
	}
	r.Body = http.MaxBytesReader(w, r.Body, d.body)
	return 0, "", ""
}
