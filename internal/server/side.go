package server

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"webchat/internal/page"
	"webchat/internal/sessions"
)

// sessionLists draws the list of sessions.
type sessionLists struct {
	sessions *sessions.Manager
	layout   *layout
	pages    *page.Pages
}

// page answers with the list, or with ?part= with the next rows of one part.
func (sl *sessionLists) page(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	state, err := stateOf(r)
	if err != nil {
		return err
	}
	own := cmp.Or(q.Get("workspace"), sl.sessions.Workspaces().First())
	wish := sidebarWish{Workspace: own, Rows: map[string]int{}, Text: q.Get("q"), State: state}
	for _, shown := range q["rows"] {
		key, text, _ := strings.Cut(shown, ":")
		n, err := strconv.Atoi(text)
		if wish.Rows[key] = n; err != nil {
			return invalid("bad_query", "Give rows as a part's name, a colon and a number.")
		}
	}
	if key := q.Get("part"); key != "" {
		return sl.part(w, r, wish, key)
	}
	view, err := sl.layout.view(r.Context(), wish)
	if err != nil {
		return err
	}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sl.pages.SessionsList(b, view, q.Get("current"))
	})
}

// part answers with the rows of a part behind ?cursor=.
func (sl *sessionLists) part(w http.ResponseWriter, r *http.Request, wish sidebarWish,
	key string) error {
	q := r.URL.Query()
	part, err := sidebarPart(r.Context(), sl.sessions, wish, key, q.Get("cursor"))
	if err != nil {
		return err
	}
	view := page.View{Workspace: wish.Workspace}
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sl.pages.SessionsPart(b, view, part, q.Get("current"))
	})
}
