package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// FS holds templates/ and static/.
//
//go:embed templates static
var FS embed.FS

// Version names this state of static/ and of what is made of it: it changes when any byte of it
// does.
var Version = sync.OnceValue(func() string {
	h, buf := sha256.New(), make([]byte, 16<<10)
	h.Write([]byte(bundler))
	err := fs.WalkDir(FS, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := FS.Open(name)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		h.Write([]byte(name + "\x00" + strconv.FormatInt(info.Size(), 10) + "\x00"))
		_, err = io.CopyBuffer(h, struct{ io.Reader }{f}, buf)
		return errors.Join(err, f.Close())
	})
	if err != nil { // an embedded file system cannot fail to read
		panic(err)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// Static is the folder of the present static files, without a slash at its end.
// All of them share it, so a script may import its neighbours by relative names.
func Static() string { return "/static/" + Version() }

// Handler serves GET and HEAD /static/{version}/{file}. The present version may
// be kept for ever; another one gets the present file, which it must not keep.
// Headers that concern every reply are the caller's.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/static/"), "/")
		if !ok || !fs.ValidPath(name) {
			http.NotFound(w, r)
			return
		}
		b := file(name)
		if b == nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", contentType(name))
		w.Header().Set("Vary", "Accept-Encoding")
		if e := Encoding(r); e != "" && path.Ext(name) != ".png" {
			if small := packed(name, e, b); small != nil {
				w.Header().Set("Content-Encoding", e)
				b = small
			}
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		w.Header().Set("Cache-Control", "no-cache")
		if v == Version() {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		if r.Method != http.MethodHead {
			_, _ = w.Write(b) // the reader has left
		}
	})
}

// file is what stands under a name: of the embedded ones, or made of several of them.
// nil: there is none.
func file(name string) []byte {
	switch name {
	case "css/first.css":
		return joined(First)
	case "css/later.css":
		return joined(Later)
	}
	if made, ok := strings.CutPrefix(name, "app/"); ok {
		return app(made)
	}
	b, err := FS.ReadFile("static/" + name)
	if err != nil {
		return nil
	}
	return b
}

// The style sheets in the order of their layers: what is drawn first, which comes as
// css/first.css, and what something is done for, css/later.css.
var (
	First = []string{"tokens", "base", "controls", "layout", "sidebar", "transcript", "tools", "card",
		"code", "syntax",
		"terminal", "tasks", "ask", "composer", "meter", "hello", "desk", "pane"}
	Later = []string{"palette", "overlay", "views", "grep", "review", "stays", "back", "print"}
)

// joined is style sheets one after the other.
func joined(names []string) (all []byte) {
	for _, name := range names {
		b, err := FS.ReadFile("static/css/" + name + ".css")
		if err != nil { // an embedded file system cannot fail to read
			panic(err)
		}
		all = append(all, b...)
	}
	return all
}

// contentType does not ask the system's table, which may lie about .js.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".webmanifest":
		return "application/manifest+json"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
