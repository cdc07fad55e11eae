// Package page writes whole pages by html/template from package web: a session with the
// list beside it, a new session, signing in, an error, the dialog of permissions, and a
// session as a file. What a session's log comes to is package transcript's; pages hand
// it the templates. Pages is immutable.
//
//	pages, err := page.New(page.Config{Outputs: stored, Home: "/home/me"})
//	...
//	p := pages.Projector(sessionID)
//	p.Load(logged...)
//	err = pages.Session(w, page.View{...}, p)
package page
