// Package page folds a session's log into the nodes of its page, and writes them by html/template:
// as frames that bring a page forward, and as whole pages with what surrounds the transcript, which
// are a session, a new session, signing in, an error, the dialog of permissions, and a session as a
// file.
//
// # Concurrency
//
// Pages is immutable. A [Projector] may be used from any goroutine.
//
// # Usage
//
//	pages, err := page.New(page.Config{Outputs: stored, Home: "/home/me"})
//	...
//	p := pages.Projector(sessionID)
//	p.Load(logged...)
//	err = pages.Session(w, page.View{...}, p)
package page
