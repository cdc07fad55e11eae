package server

import (
	"errors"
	"net/http"
	"testing"

	"webchat/internal/guard"
)

func TestTooLargeSaysTheLimit(t *testing.T) {
	for limit, want := range map[int64]string{guard.MaxUpload: "20 MiB", guard.MaxBody: "1 MiB",
		1 << 10: "1 KiB"} {
		x, known := status(errors.Join(errors.New("read"), &http.MaxBytesError{Limit: limit}))
		if want = "The body is too large: it may have at most " + want + "."; !known ||
			x.sentence != want || x.status != http.StatusRequestEntityTooLarge || x.code != "too_large" {
			t.Errorf("%d: %+v, want %q", limit, x, want)
		}
	}
}

func TestAttachmentsAreWhatTheirBytesSay(t *testing.T) {
	for data, want := range map[string]string{
		"\x89PNG\r\n\x1a\n": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif",
		"RIFF\x00\x00\x00\x00WEBPVP8 ": "image/webp",
		"\x00\x00\x00\x20ftypavif\x00": "image/avif", "\x00\x00\x00\x20ftypavis\x00": "image/avif",
		"plain": "text/plain", "<html>": "text/plain", "naïve": "text/plain", "a": "text/plain",
		"a\x00b": "", "\xff\xfe\xfd": "", "%PDF-\xff": "",
	} {
		got, ok := mediaTypeOf([]byte(data))
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", data, got, ok)
		}
	}
}
