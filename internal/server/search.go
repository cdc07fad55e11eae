package server

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/files"
	"webchat/internal/grep"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/render/code"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/tokens"
	"webchat/internal/veil"
)

// Bounds of searches.
const (
	searches       = 2                     // at a time: each takes all processors
	longestSearch  = 30 * time.Second      // a folder may be endless
	longestPattern = 1000                  // bytes
	searchFlush    = 20 * time.Millisecond // between two times that what was found is sent
)

// errSearching refuses a search that found no turn within its time.
var errSearching = errors.New("searches are running")

// searchFile is a file or an output with hits.
type searchFile struct {
	grep.File
	Output outputs.ID `json:"output,omitempty"`
}

// searchLine is a line of the answer: a file, or at the end what the search came to.
type searchLine struct {
	File *searchFile `json:"file,omitempty"`
	Done *searchDone `json:"done,omitempty"`
}

type searchDone struct {
	grep.Found
	Ms int64 `json:"ms"`
}

// search finds text in a workspace, or in what one session showed.
type search struct {
	find     finder
	sessions *sessions.Manager
	outputs  *outputs.Store
	shown    *shownSearch
	turns    chan struct{}                  // holds one for each search that runs
	cover    func(name string, text []byte) // nil: what looks like a secret is shown
}

// serve streams where a text is found, a line of JSON for each file, as they are found. No model
// hears of it, and it ends when its reader leaves.
func (s *search) serve(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if len(q.Get("q")) > longestPattern {
		return invalid("bad_query", "Search for at most %d bytes.", longestPattern)
	}
	e, err := grep.Query{
		Text:       q.Get("q"),
		Expression: q.Has("expression"),
		Case:       q.Has("case"),
		Word:       q.Has("word"),
	}.Parse()
	if err != nil {
		return invalid("bad_expression", "%s", strings.ToUpper(err.Error()[:1])+err.Error()[1:])
	}
	run, err := s.of(r, q)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestSearch)
	defer cancel()
	if err := s.wait(ctx); err != nil {
		return err
	}
	defer func() { <-s.turns }()
	w.Header().Set("Content-Type", "application/x-ndjson")
	begun, flushed := time.Now(), time.Time{}
	send := func(line searchLine) error {
		b, err := json.Marshal(line)
		if err == nil {
			_, err = w.Write(append(escaped(b), '\n'))
		}
		if err == nil && time.Since(flushed) > searchFlush {
			err = http.NewResponseController(w).Flush()
			flushed = time.Now()
		}
		return err
	}
	if q.Get("q") == "" {
		e = nil
	}
	done := searchDone{}
	done.Found, err = run(ctx, e, func(f searchFile) error {
		dotted(f.Lines)
		return send(searchLine{File: &f})
	})
	if r.Context().Err() != nil {
		return nil // the reader left
	}
	done.More = done.More || errors.Is(err, context.DeadlineExceeded)
	if err != nil && !done.More {
		return err
	}
	done.Ms = time.Since(begun).Milliseconds()
	_ = send(searchLine{Done: &done}) // a client that has gone needs no answer
	return nil
}

// wait waits for its turn, which ends when s.turns is read from.
func (s *search) wait(ctx context.Context) error {
	select {
	case s.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errSearching
	}
}

// dotted puts dots in place of what is covered.
func dotted(lines []grep.Line) {
	for i := range lines {
		lines[i].Text = string(veil.Dotted([]byte(lines[i].Text)))
	}
}

// searcher searches one place; without an expression it only counts what would be searched.
type searcher func(ctx context.Context, e *grep.Expression,
	report func(searchFile) error) (grep.Found, error)

// of finds what a request wants to be searched: the outputs of a session, or a workspace.
func (s *search) of(r *http.Request, q url.Values) (searcher, error) {
	reaches, bad := policy.Globs(q["glob"])
	if bad != "" {
		return nil, invalid("bad_glob",
			"The glob %s is not understood. Use names with * and ?, folders with a slash at the end, and "+
				"! before what is left out.", bad)
	}
	id := q.Get("session")
	if id == "" && q.Has("output") { // else it would be the search of a folder
		return nil, invalid("no_session", "Name the session whose outputs are to be searched.")
	}
	if id != "" {
		sess, err := s.sessions.Get(r.Context(), eventlog.ID(id))
		if err != nil {
			return nil, err
		}
		return s.inOutputs(sess, reaches, q["output"]), nil
	}
	in, err := s.find.workspace(r)
	if err == nil {
		err = files.CheckWorkspace(in.Path)
	}
	if err != nil {
		return nil, err
	}
	room, err := s.sessions.Room(in.Path)
	if err != nil || room.Files == nil {
		return func(context.Context, *grep.Expression, func(searchFile) error) (f grep.Found, err error) {
			return f, err
		}, err
	}
	return searchFolder(room, in.Path, reaches, s.shown.sensitive.Sensitive, s.cover), nil
}

func searchFolder(room sessions.Room, folder string, reaches, sensitive func(string) bool,
	cover func(string, []byte)) searcher {
	judge := session.Judge(room.Policy)
	if judge == nil {
		judge = policy.New(policy.Config{Workspace: folder})
	}
	return func(ctx context.Context, e *grep.Expression,
		report func(searchFile) error) (found grep.Found, err error) {
		names, err := room.Files.Names(ctx)
		if err != nil {
			return found, err
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !reaches(name) })
		if found.Files = len(names); e == nil {
			for i := 0; i < len(names) && ctx.Err() == nil; i++ {
				if sensitive(names[i]) {
					found.Closed++
				}
			}
			return found, ctx.Err()
		}
		root, err := os.OpenRoot(folder)
		if err != nil {
			return found, err
		}
		defer root.Close()
		return grep.Folder{
			Root: root, Names: names, Open: policy.OpenListed, Closed: sensitive, Cover: cover,
			Shown: func(st fs.FileInfo, name string) grep.Shown {
				return howShown(judge, st, filepath.Join(folder, filepath.FromSlash(name)))
			},
		}.Search(ctx, e, func(f grep.File) error { return report(searchFile{File: f}) })
	}
}

// howShown judges a file with hits, by its absolute path. What a link leads to is searched in its
// own place.
func howShown(judge session.Judge, opened fs.FileInfo, path string) grep.Shown {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return grep.Nothing
	}
	switch ruling := judge.File(opened, path); {
	case ruling.Decision == event.Deny:
		return grep.Nothing
	case ruling.Sensitive:
		return grep.ByName
	}
	return grep.Whole
}

// inOutputs searches what was shown in a session, or those of it that ids name.
func (s *search) inOutputs(sess *session.Session, reaches func(string) bool,
	ids []string) searcher {
	return func(ctx context.Context, e *grep.Expression,
		report func(searchFile) error) (found grep.Found, err error) {
		for _, l := range s.outputs.Session(string(sess.ID())) {
			name := l.Meta.Path + l.Meta.Command
			if len(ids) > 0 && !slices.Contains(ids, string(l.ID)) || sess.Looks(string(l.ID)) ||
				!searched(l) || !reaches(name) {
				continue
			}
			found.Files++
			byName := s.shown.byName(l)
			if byName {
				found.Closed++
			}
			if e == nil || byName && !e.Match([]byte(name)) {
				continue
			}
			if byName {
				if err := report(searchFile{
					File:   grep.File{Path: name, Closed: true},
					Output: l.ID,
				}); err != nil {
					return found, err
				}
				continue
			}
			o, err := s.outputs.Get(l.ID)
			if err != nil {
				continue // its life has ended since
			}
			f := searchFile{File: grep.File{Path: name}, Output: l.ID}
			if f.Lines, f.Hits, err = o.Veiled().About(ctx, e.Clone(), grep.Around,
				grep.Most-found.Hits); err != nil {
				return found, err
			}
			if f.Hits == 0 {
				continue
			}
			found.In++
			found.Hits += f.Hits
			if err := report(f); err != nil {
				return found, err
			}
			if found.More = found.Hits >= grep.Most; found.More {
				break
			}
		}
		return found, nil
	}
}

// priceRequest is a text that may go with a prompt, or the size of a picture that may.
type priceRequest struct {
	Text    string       `json:"text,omitempty"`
	Picture *pictureSize `json:"picture,omitempty"`
}

type pictureSize struct { // pixels
	Width  int `json:"width"`
	Height int `json:"height"`
}

func price(_ *http.Request, in priceRequest) (p outputs.Price, err error) {
	if in.Picture != nil {
		p.Tokens = tokens.Picture(in.Picture.Width, in.Picture.Height)
		return p, nil
	}
	p.Tokens, p.Exact = tokens.Count(in.Text)
	return p, nil
}

// coloursRequest is lines of files, as a search found them.
type coloursRequest struct {
	Pieces []code.Piece `json:"pieces"`
}

type coloursReply struct {
	// for each piece the spans of its lines; null: it is not coloured
	Pieces [][][]code.Span `json:"pieces"`
}

func colours(_ *http.Request, in coloursRequest) (coloursReply, error) {
	return coloursReply{Pieces: code.Spans(in.Pieces)}, nil
}
