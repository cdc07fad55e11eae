package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-chi/chi/v5"
)

// observed notes what was answered.
type observed struct {
	http.ResponseWriter
	status int // 0: nothing yet
}

func (o *observed) WriteHeader(status int) {
	if o.status == 0 && status >= 200 {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	return o.ResponseWriter.Write(b)
}

// Unwrap serves [http.ResponseController].
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// observe keeps a fault in its request, and logs routes and statuses.
func (a *answers) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// chi fills in the context it finds, so the route is known here afterwards.
		r = r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, chi.NewRouteContext()))
		o := &observed{ResponseWriter: w}
		start := time.Now()
		defer func() {
			if p := recover(); p != nil {
				a.recoverPanics(o, r, p)
			}
			a.logger.Debug("request", "method", r.Method, "route", routeOf(r), "status", o.status, "took",
				time.Since(start).Round(time.Microsecond))
		}()
		next.ServeHTTP(o, r)
	})
}

// recoverPanics answers instead of a handler that panicked. The value may hold content, so only its
// type is logged.
func (a *answers) recoverPanics(o *observed, r *http.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	a.logger.Error("panic", "route", routeOf(r), "type", fmt.Sprintf("%T", p), "stack",
		string(debug.Stack()))
	if o.status != 0 {
		panic(http.ErrAbortHandler)
	}
	a.fail(o, r, errPanic)
}

var errPanic = errors.New("the handler panicked")

// routeOf returns the matched pattern: a path may hold what is not for logs.
func routeOf(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
		return c.RoutePattern()
	}
	return "none"
}
