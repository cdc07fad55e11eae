package server

import (
	"net/http"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

// sessionShape is a session as the API shows it.
type sessionShape struct {
	ID        eventlog.ID  `json:"id"`
	Workspace string       `json:"workspace"` // absolute path
	Backend   string       `json:"backend"`
	Model     string       `json:"model"`
	Mode      string       `json:"mode,omitempty"`
	Effort    string       `json:"effort,omitempty"`
	Title     string       `json:"title"`
	CreatedAt event.Time   `json:"createdAt"`
	UpdatedAt event.Time   `json:"updatedAt"`
	Pinned    bool         `json:"pinned"`
	Status    event.Status `json:"status"`
	Usage     event.Usage  `json:"usage"`
	Tokens    tokensShape  `json:"tokens"`
	Damaged   int          `json:"damaged,omitempty"` // events of its log that cannot be read
}

// oneShape is a session as it is shown alone.
type oneShape struct {
	sessionShape
	Sandbox Sandbox       `json:"sandbox"`
	Budget  event.Budget  `json:"budget,omitzero"` // its own, or that of all sessions
	Opened  []openedShape `json:"opened,omitempty"`
	// Worktree is what it works in, if that is one of its own.
	Worktree *copyShape `json:"worktree,omitempty"`
}

// tokensShape is the ledger of a session. Net is what displays kept out of the model's calls less
// what webchat added to them; it is missing where that is unknown.
type tokensShape struct {
	eventlog.Tokens
	Net *int64 `json:"net,omitempty"`
}

func tokensOf(s eventlog.Summary) tokensShape {
	net, known := s.Usage.Net()
	if known || s.Usage.Calls+s.Usage.Turns == 0 { // no call, nothing kept out
		return tokensShape{s.Tokens, &net}
	}
	return tokensShape{s.Tokens, nil}
}

func shapeOf(s eventlog.Summary) sessionShape {
	return sessionShape{s.ID, s.Workspace, s.Backend, s.Model, s.Open.Mode, s.Open.Effort, s.Title,
		event.Time(s.CreatedAt), event.Time(s.UpdatedAt), s.Pinned, s.Status, s.Usage, tokensOf(s),
		s.Damaged}
}

type createRequest struct {
	Workspace string `json:"workspace,omitempty"` // the absolute path of an open one; empty: the first
	Backend   string `json:"backend,omitempty"`
	Model     string `json:"model,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Title     string `json:"title,omitempty"`
	// in a worktree of its own of the repository that the workspace is in
	Worktree bool `json:"worktree,omitempty"`
	// with what is not committed there
	TakeAlong bool `json:"takeAlong,omitempty"`
}

// sessionList is the reply of [catalog.list].
type sessionList struct {
	Sessions []foundShape `json:"sessions"`
	Cursor   string       `json:"cursor"`
	// on the first page of a search: alive ones that hold the text
	Outputs []shownHit `json:"outputs,omitempty"`
}

type foundShape struct {
	sessionShape
	Snippet string   `json:"snippet,omitempty"`
	Parts   []string `json:"parts,omitempty"` // the snippet: plain, matched, plain …
	Seq     int64    `json:"seq,omitempty"`   // of the event that matched
	URL     string   `json:"url,omitempty"`   // of the page, at that event
}

// location is where a session is that was made.
func (s sessionShape) location() string { return "/api/sessions/" + string(s.ID) }

// catalog lists, makes and changes sessions.
type catalog struct {
	find      finder
	sessions  *sessions.Manager
	shown     *shownSearch
	sandboxes Sandboxes
	copies    *copies
}

func (c *catalog) list(r *http.Request, _ empty) (list sessionList, err error) {
	q := r.URL.Query()
	limit, err := limitOf(q, 50, 200)
	if err != nil {
		return list, err
	}
	filter, err := c.find.filter(r)
	if err != nil {
		return list, err
	}
	found, err := c.sessions.List(r.Context(), sessions.Query{
		Text:   q.Get("q"),
		Limit:  limit,
		Cursor: q.Get("cursor"),
		Filter: filter,
	})
	list = sessionList{Sessions: make([]foundShape, 0, len(found.Sessions)), Cursor: found.Cursor}
	for _, f := range found.Sessions {
		list.Sessions = append(list.Sessions, foundOf(f))
	}
	if err == nil && q.Get("cursor") == "" {
		list.Outputs = c.shown.find(r.Context(), strings.TrimSpace(q.Get("q")), filter)
	}
	return list, err
}

// foundOf adds where a hit can be seen.
func foundOf(f sessions.Found) foundShape {
	out := foundShape{sessionShape: shapeOf(f.Summary)}
	if h := f.Hit; h != nil {
		out.Snippet, out.Parts, out.Seq, out.URL = h.Snippet(), h.Parts, h.Seq,
			page.Place(string(f.ID), h.Seq, h.Data)
	}
	return out
}

func (c *catalog) create(r *http.Request, in createRequest) (out sessionShape, err error) {
	sess, err := c.sessions.Create(r.Context(), sessions.Options{
		Workspace: in.Workspace,
		Backend:   in.Backend,
		Model:     in.Model,
		Mode:      in.Mode,
		Title:     in.Title,
		Worktree:  in.Worktree,
		TakeAlong: in.TakeAlong,
	})
	if err != nil {
		return out, err
	}
	return shapeOf(sess.Summary()), nil
}

func (c *catalog) show(_ *http.Request, sess *session.Session, _ empty) (oneShape, error) {
	sum := sess.Summary()
	out := oneShape{shapeOf(sum), c.sandboxes.of(sum.Backend, sum.Workspace), sess.Budget(),
		openedOf(sess), nil}
	if own, err := c.copies.of(sess); err == nil {
		out.Worktree = new(shapeOfCopy(own))
	}
	return out, nil
}

func (c *catalog) update(r *http.Request, in sessions.Patch) (sessionShape, error) {
	sum, err := c.sessions.Update(r.Context(), idOf(r), in)
	return shapeOf(sum), err
}

// delete deletes a session; with worktree=throw its worktree is thrown away with it.
func (c *catalog) delete(r *http.Request, _ empty) (empty, error) {
	sess, err := c.sessions.Get(r.Context(), idOf(r))
	if err == nil {
		err = c.sessions.Delete(r.Context(), sess.ID())
	}
	if err != nil || r.URL.Query().Get("worktree") != "throw" {
		return empty{}, err
	}
	if own, err := c.copies.of(sess); err == nil {
		_, err = c.copies.trees.Throw(r.Context(), own.Session)
		return empty{}, err
	}
	return empty{}, nil
}

func (c *catalog) restore(r *http.Request, _ empty) (sessionShape, error) {
	sum, err := c.sessions.Restore(r.Context(), idOf(r))
	return shapeOf(sum), err
}

func choices(r *http.Request, sess *session.Session, _ empty) (agent.Choices, error) {
	c := sess.Choices(r.Context())
	c.Models, c.Modes, c.Efforts = listed(c.Models), listed(c.Modes), listed(c.Efforts)
	c.Can, c.Commands = listed(c.Can), listed(c.Commands)
	return c, nil
}

// promptRef names a prompt of the session.
type promptRef struct {
	MessageID string `json:"messageId"`
}

// branch makes a session that begins with everything before a prompt.
func (c *catalog) branch(r *http.Request, in promptRef) (out sessionShape, err error) {
	made, err := c.sessions.Branch(r.Context(), idOf(r), in.MessageID)
	if err != nil {
		return out, err
	}
	return shapeOf(made.Summary()), nil
}

// compactRequest may say what a summary must not lose.
type compactRequest struct {
	Focus string `json:"focus,omitempty"`
}

func compact(r *http.Request, sess *session.Session, in compactRequest) (empty, error) {
	return empty{}, sess.Compact(r.Context(), in.Focus)
}

func forget(r *http.Request, sess *session.Session, _ empty) (empty, error) {
	return empty{}, sess.Clear(r.Context())
}

// inside asks the agent what it works with.
func inside(r *http.Request, sess *session.Session, _ empty) (agent.Inside, error) {
	return sess.Inside(r.Context())
}
