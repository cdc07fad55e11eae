package outputs

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// sounds are the beginnings of what browsers play, and the type each is served with.
var sounds = map[string]string{
	"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00": "audio/wav",
	"ID3\x04\x00\x00\x00\x00\x00\x40TIT2\x00\x00\x00\x1b\x00\x00\x00<script>alert(1)</script>" +
		strings.Repeat("\x00", 40): "audio/mpeg",
	"fLaC\x00\x00\x00\x22": "audio/flac",
	"OggS\x00\x02" + strings.Repeat("\x00", 22) + "OpusHead\x01\x01":   "audio/ogg",
	"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00isom":                     "audio/mp4",
	"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isom":                     "video/mp4",
	"\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x82\x84webm": "video/webm",
}

// Media are served with a type of a list and by their bytes alone, in a sandbox, to be saved, and
// never kept; what is no media is refused. The outputs route gives the same bytes as bytes.
func TestMediaIsServedApart(t *testing.T) {
	s := newStore(t, 16<<20)
	h := newHandler(s, testViews{})
	play := func(id ID, header ...string) *httptest.ResponseRecorder {
		t.Helper()
		return ask(h, "GET", string(id)+"/media", header...)
	}
	for data, want := range sounds {
		o := put(t, s, Meta{Type: File, Path: "evil.html", MimeType: "text/html", Binary: true}, data)
		w := play(o.ID())
		for k, want := range map[string]string{
			"Content-Type": want, "Content-Disposition": "attachment; filename=evil.html",
			"Cache-Control":                "private, no-store",
			"Content-Security-Policy":      "default-src 'none'; sandbox; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer",
			"Accept-Ranges": "bytes",
		} {
			if got := w.Header().Get(k); got != want {
				t.Errorf("%.20q: %s: %q, want %q", data, k, got, want)
			}
		}
		if w.Code != 200 || w.Body.String() != data {
			t.Errorf("%.20q: %d, %d bytes", data, w.Code, w.Body.Len())
		}
		if w = play(o.ID(), "Range", "bytes=4-7"); w.Code != 206 || w.Body.String() != data[4:8] {
			t.Errorf("%.20q: a part is %d %q", data, w.Code, w.Body)
		}
		if w = play(o.ID(), "Range", "bytes=999-"); w.Code != 416 ||
			w.Header().Get("Content-Disposition") != "" {
			t.Errorf("%.20q: beyond its end: %d", data, w.Code)
		}
		if got := ask(h, "GET", string(o.ID())).Header().Get(
			"Content-Type"); got != "application/octet-stream" {
			t.Errorf("%.20q as an output: %s", data, got)
		}
	}
	for _, m := range []struct {
		m    Meta
		data string
	}{
		{Meta{Type: File, Path: "a.mp3", MimeType: "audio/mpeg"}, "<script>"},
		{Meta{Type: File, Path: "a.mp4", Binary: true}, "\x00<html>"},
		{Meta{Type: Terminal}, "fLaC\x00\x00\x00\x22"},
		{Meta{Type: Image, MimeType: "image/svg+xml"}, "<svg xmlns='http://www.w3.org/2000/svg'/>"},
		{Meta{Type: File, Path: "m.mid", Binary: true}, "MThd\x00\x00\x00\x06\x00\x00"},
	} {
		if w := play(put(t, s, m.m, m.data).ID()); w.Code != 400 ||
			!strings.Contains(w.Body.String(), "no_media") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%+v: %d %s", m.m, w.Code, w.Body)
		}
	}
	if w := play("out_unknown"); w.Code != 404 || w.Body.String() != `{"error":"Expired"}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
