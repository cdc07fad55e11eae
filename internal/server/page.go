package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/guard"
	"webchat/internal/outputs"
	"webchat/internal/page"
	"webchat/internal/sessions"
	"webchat/internal/veil"
	"webchat/internal/views"
	"webchat/web"
)

// Pages is what people see. It exists before the server does, because the guard
// answers people by it.
type Pages struct {
	pages  *page.Pages
	views  *views.Views
	places *places // of views; the server gives it the sessions
}

// PagesConfig is what pages are made of.
type PagesConfig struct {
	page.Config
	Outputs *outputs.Store
}

// NewPages makes the pages.
func NewPages(c PagesConfig) (*Pages, error) {
	p := &Pages{places: &places{}}
	p.views = views.New(c.Outputs, p.places)
	c.Config.Outputs, c.Config.Title = p.views, p.places.title
	var err error
	p.pages, err = page.New(c.Config)
	return p, err
}

// cover returns what covers what looks like a secret in the text of a file; nil if it is shown.
func (p *Pages) cover() func(name string, text []byte) {
	if p != nil && p.pages != nil && p.pages.Unveiled {
		return nil
	}
	return func(name string, text []byte) { veil.Cover(text, veil.FileSpans(name, text)) }
}

// pageRoutes is the part of the table that people use.
func (p *resources) pageRoutes() []route {
	if p.pages == nil {
		return nil
	}
	var rows []route
	if p.signIns.guard.Shared() {
		rows = append(rows, route{get, "/auth/user", guard.Door, p.signIns.as, 303, nil,
			htmlPage("A redirect to the page that signs in, or to who knows people"), "state code error",
			"Sign in as oneself"})
	}
	in := p.find.in
	static := func(w http.ResponseWriter, r *http.Request) error {
		web.Handler().ServeHTTP(w, r)
		return nil
	}
	diagram := func(w http.ResponseWriter, r *http.Request) error { web.Diagram(w, r); return nil }
	return append(rows, []route{
		{get, "/", guard.Page, p.pages.home, 200, nil, htmlPage("The page of a new session"), "workspace",
			"Home"},
		{get, "/auth", guard.Door, p.signIns.page, 200, nil, htmlPage("The page that signs in"), "",
			"Sign in"},
		{get, "/sessions", guard.Read, p.lists.page, 200, nil, htmlPage("The list of sessions"),
			"current workspace rows part cursor q state",
			"The list of sessions, as the page has it; the next rows of a part"},
		{get, "/sessions/{id}", guard.Page, in(p.pages.page), 200, nil,
			htmlPage("The page of a session"), "before from", "A session's page"},
		{get, "/sessions/{id}/replay", guard.Page, in(p.replays.page), 200, nil,
			htmlPage("A session as it was after an event"), "at out part",
			"A replay: after event at what the model held, and what the user saw, which is output out or " +
				"the last one; with part=moment only what differs from one moment to the next, with " +
				"part=film only the film; of a long log not read before, the page without both"},
		{get, "/sessions/{id}/stream", guard.Read, in(p.pages.stream), 200, nil,
			streamBody("what changes on the page, as package web says"), "after",
			"A session's page as it changes"},
		{get, "/api/sessions/{id}/tools/{toolCallId}", guard.Read, in(p.tools.content), 200, nil,
			htmlPage("What a call was given and what came of it"), "from",
			"The inside of a folded row; from is the event its turn begins with"},
		{get, "/sessions/{id}/desk/{output}", guard.Read, in(p.desk.pane), 200, nil,
			htmlPage("An output as the Desk shows it"), "", "An output on the Desk"},
		{get, "/sessions/{id}/review", guard.Read, in(p.reviews.page), 200, nil,
			htmlPage("What the agent changed, as the Desk shows it"), "since from back also",
			"What the agent changed: since is turn (the default), prompt or commit; from is the event " +
				"that a turn begins with. back is a prompt, in place of both: what going back to before it " +
				"would write, with the files named by also"},
		{get, "/consent", guard.Read, p.consents.page, 200, nil,
			htmlPage("What agents may do, inside the page's dialog"), "session", "What agents may do"},
		{get, "/sandbox", guard.Read, p.sandbox.page, 200, nil,
			htmlPage("What commands may do, above the page's composer"), "workspace backend",
			"What commands of a session may do that does not exist yet"},
		{get, "/sessions/{id}/sandbox", guard.Read, in(p.sandbox.ofOne), 200, nil,
			htmlPage("What commands may do, above the page's composer"), "",
			"What commands of a session may do: what its confined processes may touch now, or why they " +
				"are not confined"},
		{get, "/diagram", guard.Frame, diagram, 200, nil,
			htmlPage("A page that draws what it is sent as a message"), "",
			"The page of a frame that draws one Mermaid diagram: it is the same for all, and loads nothing"},
		{get, "/static/*", guard.Static, static, 200, nil,
			bytesBody("a style sheet, a script or an icon"), "", "Static files"},
	}...)
}

func (sp *sessionPages) home(w http.ResponseWriter, r *http.Request) error {
	in, err := sp.find.workspace(r)
	if err != nil {
		return err
	}
	view, err := sp.layout.view(r.Context(), sidebarWish{Workspace: in.Path, Short: true})
	if err != nil {
		return err
	}
	view.Stays = sp.sandboxes.stays(nil, view.Backend, in.Path)
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sp.pages.Home(b, view)
	})
}

func (si *signIns) page(w http.ResponseWriter, r *http.Request) error {
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return si.pages.signIn(b, si.pages.pages.Auth)
	})
}

// as begins and ends a sign-in of a person whom somebody else knows.
func (si *signIns) as(w http.ResponseWriter, r *http.Request) error {
	return si.guard.SignInAs(w, r)
}

// writePage sends a page that could be written whole, or nothing.
func writePage(w http.ResponseWriter, r *http.Request, status int,
	write func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Vary", "Accept-Encoding")
	body := b.Bytes()
	if e := web.Encoding(r); e != "" {
		// No page holds a secret, so its length reveals nothing about one.
		if small := web.Compress(e, body); small != nil {
			w.Header().Set("Content-Encoding", e)
			body = small
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone needs no answer
	return nil
}

// layout knows what stands around a transcript.
type layout struct {
	sessions *sessions.Manager
	stored   func() (int64, error) // nil: unknown
	notice   string
	logger   *slog.Logger
}

// view is what stands around a transcript in a workspace.
func (l *layout) view(ctx context.Context, wish sidebarWish) (v page.View, err error) {
	v = page.View{
		Workspace: wish.Workspace,
		Missing:   files.CheckWorkspace(wish.Workspace) != nil,
		Trouble:   l.sessions.Unsaved(),
		Notice:    l.notice,
		User:      sessions.UserOf(ctx),
	}
	if l.stored != nil {
		if v.Bytes, err = l.stored(); err != nil {
			l.logger.Warn("the size of the sessions is not known", "error", err)
		}
	}
	if v.Side, err = sidebarOf(ctx, l.sessions, wish); err != nil {
		return v, err
	}
	for _, b := range l.sessions.Backends(ctx) {
		if b.Available {
			v.Available = append(v.Available, b.Name)
		}
		if b.Default {
			v.Backend = b.Name
		}
	}
	return v, nil
}

// signIn writes the page that signs in, and readies the one that is asked for next.
func (p *Pages) signIn(b *bytes.Buffer, write func(io.Writer) error) error {
	err := write(b)
	go p.pages.Prepare()
	return err
}

// Refuse answers a person whom the guard refuses a page, for guard.Config. Who is
// not signed in may be so after all: a link from another site comes without the
// cookie, and a script of that page finds out.
func (p *Pages) Refuse(w http.ResponseWriter, r *http.Request, status int, code, sentence string) {
	if status == http.StatusUnauthorized {
		_ = writePage(w, r, status, func(b *bytes.Buffer) error {
			return p.signIn(b, p.pages.AuthInPlace)
		})
		return
	}
	p.problem(w, r, refusal{status: status, code: code, sentence: sentence}, http.StatusText(status))
}

// problem answers a person. What passes by itself is asked for again by the browser.
func (p *Pages) problem(w http.ResponseWriter, r *http.Request, x refusal, heading string) {
	if x.retry != "" {
		w.Header().Set("Retry-After", x.retry)
		w.Header().Set("Refresh", x.retry)
		x.sentence += " This page tries again by itself."
	}
	err := writePage(w, r, x.status, func(b *bytes.Buffer) error {
		return p.pages.Error(b, page.Problem{Status: x.status, Heading: heading, Text: x.sentence})
	})
	if err != nil {
		_ = reply(w, x.status, refusalBody{x.sentence, x.code})
	}
}

// failPage answers a person.
func (a *answers) failPage(w http.ResponseWriter, r *http.Request, err error) {
	x := a.refusalOf(w, r, err)
	heading := http.StatusText(x.status)
	if errors.Is(err, eventlog.ErrNotFound) { // every page that is looked for is a session's
		heading, x.sentence = "No such session", "It was deleted, or its link was cut."
	}
	if x.code == "replica_away" {
		heading = "Cannot be reached at the moment"
	}
	a.pages.problem(w, r, x, heading)
}
