package server

import (
	"context"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/session"
	"webchat/internal/veil"
)

// formats are the files a session can be saved as.
var formats = map[string]struct {
	mime   string
	export func(*exports, http.ResponseWriter, *http.Request, *session.Session) error
}{
	"md":    {"text/markdown; charset=utf-8", (*exports).markdown},
	"jsonl": {"application/x-ndjson; charset=utf-8", (*exports).lines},
	"html":  {"text/html; charset=utf-8", (*exports).page},
}

// exports saves sessions as files.
type exports struct {
	films *films
	cover func(name string, text []byte) // nil: what looks like a secret is shown
	pages *page.Pages                    // nil: only the log is saved
}

// serve answers with a session as a file. All but the page are written as the log is read, so that
// their size costs no memory.
func (ex *exports) serve(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	name := r.URL.Query().Get("format")
	if name == "" {
		name = "md"
	}
	f, ok := formats[name]
	if !ok || name != "jsonl" && ex.pages == nil {
		return invalid("bad_query", "Give format as md, jsonl or html.")
	}
	w.Header().Set("Content-Type", f.mime)
	// Never shown in place: it holds what agents and commands wrote.
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": ex.fileName(sess.Summary()) + "." + name}))
	if err := f.export(ex, w, r, sess); err != nil {
		w.Header().Del("Content-Disposition")
		return err
	}
	return nil
}

// fileName is what a session's file is called. It is passed on with the file, so that what looks
// like a secret in the title is not in it.
func (ex *exports) fileName(x eventlog.Summary) string {
	title := x.Title
	if ex.cover != nil {
		title = veil.Hide(title)
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '.', r == '_':
			return r
		}
		return '-'
	}, title)
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' })
	name = strings.Trim(strings.Join(parts, "-"), ".")
	if r := []rune(name); len(r) > 60 {
		name = string(r[:60])
	}
	if name == "" {
		return "session-" + string(x.ID)
	}
	return name
}

func (ex *exports) lines(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	return eachPage(r.Context(), sess, 0, sess.Summary().LastSeq, func(entries []event.Entry) error {
		for _, e := range entries {
			if _, err := w.Write(append(e.JSON[:len(e.JSON):len(e.JSON)], '\n')); err != nil {
				return err
			}
		}
		return nil
	})
}

func (ex *exports) markdown(w http.ResponseWriter, r *http.Request,
	sess *session.Session) error {
	x := sess.Summary()
	m := ex.pages.Markdown(w, x)
	without := r.URL.Query().Get("left") == "0"
	err := eachPage(r.Context(), sess, 0, sess.Summary().LastSeq, func(entries []event.Entry) error {
		if without {
			entries = slices.DeleteFunc(entries, func(e event.Entry) bool {
				return eventlog.IsLeft(x.Open.Left, e.Seq)
			})
		}
		return m.Take(entries...)
	})
	if err != nil {
		return err
	}
	return m.End()
}

func (ex *exports) page(w http.ResponseWriter, r *http.Request, sess *session.Session) error {
	p := ex.pages.ForExport(string(sess.ID()))
	now, err := sess.Join(r.Context())
	if err != nil {
		return err
	}
	err = eachPage(r.Context(), sess, 0, now.LastSeq, func(entries []event.Entry) error {
		p.Load(entries...)
		return nil
	})
	if err != nil {
		return err
	}
	inFlight(p, now)
	write, err := ex.saved(r.Context(), sess, p)
	if err != nil {
		return err
	}
	return write(w) // it may be read slowly
}

func (ex *exports) saved(ctx context.Context, sess *session.Session,
	p *page.Projector) (write func(io.Writer) error, err error) {
	f := ex.films.of(sess.ID())
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.follow(ctx, sess); err != nil {
		return nil, err
	}
	return ex.pages.Export(sess.Summary(), &f.Film, p)
}
