package server

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"webchat/internal/page"
	"webchat/internal/session"
)

// Sandbox says whether what agents run is confined.
type Sandbox struct {
	Confined bool   `json:"confined"`
	Lacks    string `json:"lacks,omitempty"`   // what is not held although it is confined
	Why      string `json:"why,omitempty"`     // why it is not
	Remedy   string `json:"remedy,omitempty"`  // what the user can do about that, as sentences
	Command  string `json:"command,omitempty"` // what they run in a terminal before the next start
}

// Sandboxes says what confines what agents run.
type Sandboxes struct {
	Any Sandbox // whether anything is confined
	// Of says it of what a backend runs in a workspace; nil: it is Any.
	Of func(backend, workspace string) Sandbox
	// Reach returns what that may touch, where it is confined; nil: it is not known.
	Reach func(ctx context.Context, backend, workspace string) (page.StaysFacts, error)
}

func (c Sandboxes) of(backend, workspace string) Sandbox {
	if c.Of == nil {
		return c.Any
	}
	return c.Of(backend, workspace)
}

// stays is what a page says of it; one is nil before there is a session.
func (c Sandboxes) stays(sess *session.Session, backend, workspace string) *page.Stays {
	box := c.of(backend, workspace)
	v := &page.Stays{Confined: box.Confined, Workspace: workspace, Lacks: box.Lacks,
		Why: box.Why, Remedy: box.Remedy, Command: box.Command}
	if sess == nil || !v.Confined {
		return v
	}
	v.Tree = sess.Summary().Open.Worktree != nil
	for _, o := range sess.Opened().List() {
		v.Opened = append(v.Opened, page.Opened{ID: o.ID, What: o.What, ReadOnly: o.ReadOnly,
			Scope: o.Scope, By: o.By, At: time.UnixMilli(o.At)})
	}
	return v
}

// sheet is that with what may be touched.
func (c Sandboxes) sheet(ctx context.Context, sess *session.Session, backend,
	workspace string) *page.Stays {
	v := c.stays(sess, backend, workspace)
	if !v.Confined || c.Reach == nil {
		return v
	}
	facts, err := c.Reach(ctx, backend, workspace)
	if err != nil { // no command starts then either
		v.Why = err.Error()
		return v
	}
	v.Facts = &facts
	for _, name := range facts.Configured {
		v.Opened = append(v.Opened, page.Opened{What: name})
	}
	return v
}

// sandboxPages draws what commands may do.
type sandboxPages struct {
	find      finder
	sandboxes Sandboxes
	pages     *page.Pages
}

func (sb *sandboxPages) page(w http.ResponseWriter, r *http.Request) error {
	in, err := sb.find.workspace(r)
	if err != nil {
		return err
	}
	v := sb.sandboxes.sheet(r.Context(), nil, r.URL.Query().Get("backend"), in.Path)
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sb.pages.Stays(b, *v)
	})
}

func (sb *sandboxPages) ofOne(w http.ResponseWriter, r *http.Request,
	sess *session.Session) error {
	sum := sess.Summary()
	v := sb.sandboxes.sheet(r.Context(), sess, sum.Backend, sum.Workspace)
	return writePage(w, r, http.StatusOK, func(b *bytes.Buffer) error {
		return sb.pages.Stays(b, *v)
	})
}
