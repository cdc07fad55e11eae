package server

import (
	"net/http"
	"path/filepath"

	"webchat/internal/event"
	"webchat/internal/files"
	"webchat/internal/session"
	"webchat/internal/sessions"
)

type fileList struct {
	Files  []string `json:"files"`            // those that may hold secrets last
	Secret []string `json:"secret,omitempty"` // those of them
}

// namedFiles knows the files of a workspace by their names.
type namedFiles struct {
	find     finder
	sessions *sessions.Manager
}

// complete names the files of a workspace.
func (nf *namedFiles) complete(r *http.Request, _ empty) (list fileList, err error) {
	q := r.URL.Query()
	limit, err := limitOf(q, 20, 200)
	if err != nil {
		return list, err
	}
	in, err := nf.find.workspace(r)
	if err == nil {
		err = files.CheckWorkspace(in.Path)
	}
	if err != nil {
		return list, err
	}
	room, err := nf.sessions.Room(in.Path)
	if err != nil || room.Files == nil {
		return fileList{Files: []string{}}, err
	}
	list.Files, err = room.Files.Complete(r.Context(), q.Get("q"), limit)
	if err == nil && room.Policy != nil {
		list.secretsLast(in.Path, room.Policy)
	}
	return list, err
}

// secretsLast puts files that may hold secrets behind all others, by what their names say.
func (list *fileList) secretsLast(workspace string, rules session.Policy) {
	open := make([]string, 0, len(list.Files))
	for _, name := range list.Files {
		path := filepath.Join(workspace, filepath.FromSlash(name))
		if rules.File(nil, path).Sensitive {
			list.Secret = append(list.Secret, name)
		} else {
			open = append(open, name)
		}
	}
	list.Files = append(open, list.Secret...)
}

// filePrices is what names in a prompt lead to; those that lead nowhere are left out.
type filePrices struct {
	Files map[string]filePrice `json:"files"` // by the names that were asked for
}

// filePrice is what of a file or folder would go with a prompt, and what that costs.
type filePrice struct {
	Path  string `json:"path"`
	Lines string `json:"lines,omitempty"`
	// text, picture, folder; other: only its name goes
	What      session.AttachmentKind `json:"what"`
	Why       string                 `json:"why,omitempty"`     // of other
	Refused   string                 `json:"refused,omitempty"` // why such a prompt is refused
	Tokens    int                    `json:"tokens"`
	Estimated bool                   `json:"estimated,omitempty"`
	// it may hold secrets, so it goes only with "sensitive"
	Sensitive bool   `json:"sensitive,omitempty"`
	Looks     string `json:"looks,omitempty"` // why, where its content and not its name says so
}

func (nf *namedFiles) prices(r *http.Request, _ empty) (out filePrices, err error) {
	in, err := nf.find.workspace(r)
	if err != nil {
		return out, err
	}
	names, err := askedNames(r)
	if err != nil {
		return out, err
	}
	room, err := nf.sessions.Room(in.Path)
	if err != nil {
		return out, err
	}
	out.Files = map[string]filePrice{}
	for _, name := range names {
		f, err := session.NamedAttachment(room.Policy, in.Path, name)
		if f == nil {
			continue
		}
		n, exact := f.Tokens()
		price := filePrice{
			Path:      f.Path,
			Lines:     f.Lines,
			What:      f.What,
			Why:       f.Why,
			Tokens:    n,
			Estimated: !exact,
			Sensitive: f.Sensitive,
			Looks:     f.Looks,
		}
		if err != nil {
			price.Refused = messageOf(err)
		}
		out.Files[name] = price
	}
	return out, nil
}

// askedNames reads the names that a request asks about, at most 100.
func askedNames(r *http.Request) ([]string, error) {
	names := r.URL.Query()["name"]
	if len(names) > 100 {
		return nil, invalid("invalid", "Ask for at most 100 names at once.")
	}
	return names, nil
}

// placeList is which names lead to a file: its path in the workspace.
type placeList struct {
	Places map[string]string `json:"places"`
}

// places says which names that a text gives lead to a file, so that they can be links. Nothing
// is read of the files.
func (nf *namedFiles) places(r *http.Request, sess *session.Session,
	_ empty) (list placeList, err error) {
	names, err := askedNames(r)
	list.Places = map[string]string{}
	for _, name := range names {
		if found, ok := (&places{nf.sessions}).Place(r.Context(), string(sess.ID()), "", name); ok {
			list.Places[name] = found
		}
	}
	return list, err
}

// changes finds what sessions changed in their workspaces.
type changes struct {
	sessions  *sessions.Manager
	snapshots *files.Snapshots // nil: none are kept
}

// of is where the changes of a session are found.
func (c *changes) of(sess *session.Session) (files.ChangeSource, error) {
	workspace := sess.Summary().Workspace
	room, err := c.sessions.Room(workspace)
	source := files.ChangeSource{
		Log:       sess,
		Files:     room.Files,
		Workspace: workspace,
		Snapshots: c.snapshots,
		Session:   string(sess.ID()),
	}
	if room.Policy != nil {
		// showing it asks the user, and a diff of all files does not
		source.Closed = func(path string) bool {
			r := room.Policy.File(nil, filepath.Join(workspace, filepath.FromSlash(path)))
			return r.Sensitive || r.Decision == event.Deny
		}
	}
	return source, err
}

// serve says what a session changed: as a list, or as a diff.
func (c *changes) serve(w http.ResponseWriter, r *http.Request,
	sess *session.Session) error {
	source, err := c.of(sess)
	if err != nil {
		return err
	}
	format := r.URL.Query().Get("format")
	if format != "" && format != "json" && format != "diff" {
		return invalid("bad_query", "The format is json or diff.")
	}
	list, err := source.List(r.Context())
	if err != nil {
		return err
	}
	if format != "diff" {
		return reply(w, http.StatusOK, list)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = w.Write(list.Diff())
	return err
}
