package server

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/eventlog"
	"webchat/internal/guard"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// route is one row of the table: what is answered, to whom, by what; and what the published
// description says of it.
type route struct {
	method  string
	pattern string
	class   guard.Class
	serve   handler

	status  int
	in, out any    // values of the bodies' types; nil: none
	query   string // names
	about   string
}

const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete

// empty is {}, or a body that is not looked at.
type empty struct{}

// row makes a route that answers with what f returns, in JSON.
func row[In, Out any](method, pattern string, class guard.Class, status int, query, about string,
	f func(*http.Request) (Out, error)) route {
	rt := route{
		method:  method,
		pattern: pattern,
		class:   class,
		status:  status,
		query:   query,
		about:   about,
	}
	if in := any(*new(In)); in != any(empty{}) {
		rt.in = in
	}
	if status != http.StatusNoContent {
		rt.out = *new(Out)
	}
	rt.serve = func(w http.ResponseWriter, r *http.Request) error {
		v, err := f(r)
		if err != nil {
			return err
		}
		return reply(w, status, v)
	}
	return rt
}

// to makes a row of f, which answers a request with its body.
func to[In, Out any](method, pattern string, class guard.Class, status int,
	f func(*http.Request, In) (Out, error), query, about string) route {
	return row[In](method, pattern, class, status, query, about,
		func(r *http.Request) (out Out, err error) {
			in, err := decode[In](r)
			if err != nil {
				return out, err
			}
			return f(r, in)
		})
}

// of makes a row of f, which answers a request about the session that the path names.
func of[In, Out any](find finder, method, pattern string, class guard.Class, status int,
	f func(*http.Request, *session.Session, In) (Out, error), query, about string) route {
	return row[In](method, pattern, class, status, query, about,
		func(r *http.Request) (out Out, err error) {
			sess, err := find.session(r)
			if err != nil {
				return out, err
			}
			in, err := decode[In](r)
			if err != nil {
				return out, err
			}
			return f(r, sess, in)
		})
}

// finder finds what a request names.
type finder struct {
	sessions *sessions.Manager
}

// in makes a handler of f, which answers a request about the session that the path names.
func (x finder) in(f func(http.ResponseWriter, *http.Request, *session.Session) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		sess, err := x.session(r)
		if err != nil {
			return err
		}
		return f(w, r, sess)
	}
}

// act makes what a row does of a method of sessions that gets a value of the path.
func act(name string, f func(*session.Session, context.Context, string) error) func(*http.Request,
	*session.Session, empty) (empty, error) {
	return func(r *http.Request, sess *session.Session, _ empty) (empty, error) {
		return empty{}, f(sess, r.Context(), chi.URLParam(r, name))
	}
}

// session finds the session that the path names.
func (x finder) session(r *http.Request) (*session.Session, error) {
	return x.sessions.Get(r.Context(), idOf(r))
}

func idOf(r *http.Request) eventlog.ID { return eventlog.ID(chi.URLParam(r, "id")) }
