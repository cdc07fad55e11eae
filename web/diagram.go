package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// diagram is the page of a frame that draws one diagram: the library and what uses it.
type diagram struct {
	page         []byte
	etag, policy string
}

// theDiagram is made for its first reader, since few need it.
var theDiagram = sync.OnceValue(func() diagram {
	packed, err := FS.Open("static/diagram/mermaid.tiny.js.gz")
	if err != nil { // an embedded file system cannot fail to read
		panic(err)
	}
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		panic(err)
	}
	library, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	draw := file("diagram/draw.js")
	page := bytes.Join(
		[][]byte{[]byte("<!doctype html><html lang=en><meta charset=utf-8><title>Diagram</title>" +
			"<style>body{margin:0;overflow:hidden}svg{display:block;max-height:4000px;margin:auto}</style>" +
			"<body><script>"),
			library, []byte("</script><script>"), draw, []byte("</script>")}, nil)
	sum := sha256.Sum256(page)
	return diagram{page: page, etag: `"` + hex.EncodeToString(sum[:16]) + `"`,
		policy: "default-src 'none'; script-src " + hashOf(library) + " " + hashOf(draw) +
			"; style-src 'unsafe-inline'; base-uri 'none'; " +
			"form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"}
})

// hashOf names a script in a policy.
func hashOf(script []byte) string {
	sum := sha256.Sum256(script)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Diagram serves the page of a frame that draws one diagram, which it is sent as a message. Its
// policy replaces the caller's: the two scripts in it run, in an origin of their own, and it loads
// nothing.
func Diagram(w http.ResponseWriter, r *http.Request) {
	d := theDiagram()
	h := w.Header()
	h.Set("Content-Security-Policy", d.policy)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Vary", "Accept-Encoding")
	b := d.page
	etag := d.etag
	if e := Encoding(r); e != "" {
		if small := packed("diagram", e, b); small != nil {
			h.Set("Content-Encoding", e)
			b, etag = small, d.etag[:len(d.etag)-1]+"-"+e+`"`
		}
	}
	h.Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(b)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(b) // the reader has left
	}
}
