// Package page turns a session's log and its live events into what the browser shows of them:
// a tree of turns with their cards and questions, the fragments that bring a page forward, and
// whole pages by html/template from package web: a session with the list beside it, a new
// session, signing in, an error, the dialog of permissions, and a session as a file.
//
// A [Projector] folds one session for all its readers. [Projector.Feed] takes events in their
// order and returns the [Frame] that brings a page forward; [Projector.Join] returns the frame
// that brings a page from any place in the log to now; [Projector.Read] gives the same state to
// a whole page. All three execute the same templates over the same fold, so that a reload and
// the stream show the same: after each frame a page has the elements a whole page would have.
//
// Only the last turns are kept and shown ([Config].Turns); #earlier leads to the others, which
// a Projector made for that moment shows. So memory does not grow with a session. What is
// opened has up to 300 kB of turns.
//
// [Pages] is immutable. A Projector is safe for concurrent use: one goroutine feeds it, any
// number join. The language of frames and of attributes is written in package web.
//
//	pages, err := page.New(page.Config{Outputs: stored, Home: "/home/me"})
//	...
//	p := pages.Projector(sessionID)
//	p.Load(logged...)          // from the start of the log
//	p.InFlight(snapshot.Pos, inFlight...)
//	err = pages.Session(w, page.View{...}, p)
//	...
//	frame, pos := p.Join(after) // first frame of a stream; then those with Pos > pos
//	frame, ok := p.Feed(live...)
package page
