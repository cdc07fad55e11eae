package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"webchat/internal/outputs"
	"webchat/internal/session"
	"webchat/internal/wording"
)

// apps serves the pages of MCP servers that draw what their tools returned, each by the id of an
// output that only our page and the page itself know.
type apps struct {
	shown   *shownOutputs
	outputs *outputs.Store

	mu      sync.Mutex // guards allowed
	allowed map[outputs.ID]bool
}

// mostAllowed is for how many pages it is remembered that they may reach others.
const mostAllowed = 1000

// page is the page for a frame. Its policy replaces that of frames which run nothing: its scripts
// run, in an origin of their own, and reach nothing but what the user allowed it.
func (a *apps) page(w http.ResponseWriter, r *http.Request, id outputs.ID) error {
	app, err := a.outputs.App(id)
	if err != nil {
		return err
	}
	var hosts outputs.AppHosts
	if a.may(id) {
		hosts = app.Hosts
	}
	h := w.Header()
	h.Set("Content-Security-Policy", appPolicy(hosts))
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write([]byte(app.HTML))
	return err
}

// appPolicy is what a page may load and reach.
func appPolicy(of outputs.AppHosts) string {
	load := strings.Join(append([]string{""}, of.Load...), " ")
	connect := "'none'"
	if len(of.Connect) > 0 {
		connect = strings.Join(of.Connect, " ")
	}
	return "default-src 'none'; script-src 'unsafe-inline'" + load + "; style-src 'unsafe-inline'" +
		load +
		"; img-src data: blob:" + load + "; font-src data:" + load + "; media-src data: blob:" + load +
		"; connect-src " + connect + "; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; " +
		"sandbox allow-scripts"
}

func (a *apps) may(id outputs.ID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.allowed[id]
}

// appData is what a page draws.
type appData struct {
	outputs.App
	Allowed bool `json:"allowed"` // it may reach its hosts
}

// data is what our page gives the page.
func (a *apps) data(w http.ResponseWriter, r *http.Request, id outputs.ID) error {
	app, err := a.outputs.App(id)
	if err != nil {
		return err
	}
	app.HTML = ""
	return reply(w, http.StatusOK, appData{app, a.may(id)})
}

// allow lets a page reach the hosts that it names, as long as it is there.
func (a *apps) allow(r *http.Request, one *session.Session, _ empty) (empty, error) {
	o, err := a.shown.own(r, one)
	if err == nil {
		_, err = a.outputs.App(o.ID())
	}
	if err != nil {
		return empty{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.allowed) == mostAllowed {
		clear(a.allowed)
	}
	a.allowed[o.ID()] = true
	return empty{}, nil
}

type appCall struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

type appAnswer struct {
	Result json.RawMessage `json:"result"` // as the server sent it
}

// call calls a tool of its server for a page.
func (a *apps) call(r *http.Request, one *session.Session, in appCall) (out appAnswer, err error) {
	o, err := a.shown.own(r, one)
	if err != nil {
		return out, err
	}
	app, err := a.outputs.App(o.ID())
	if err != nil {
		return out, err
	}
	out.Result, err = one.PageCall(r.Context(), app.Server, in.Tool, in.Arguments)
	code := "page_call"
	if errors.Is(err, session.ErrPageDenied) {
		code = "page_denied"
	}
	if errors.Is(err, session.ErrPageCall) {
		return out, invalid(code, "%s", wording.Sentence(err.Error()))
	}
	return out, err
}
