package outputs_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"webchat/internal/outputs"
	"webchat/internal/outputs/serve"
)

func TestTheNextBestEncodingIsServed(t *testing.T) {
	s, err := outputs.New(outputs.Config{TTL: time.Minute, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Put(outputs.Meta{Type: outputs.File}, []byte(strings.Repeat("line of a longer text\n", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	outputs.GiveUp(o, outputs.Zstd)
	r := httptest.NewRequest("GET", "/"+string(id), nil)
	r.Header.Set("Accept-Encoding", "gzip, zstd")
	w := httptest.NewRecorder()
	serve.New(s, nil, slog.New(slog.DiscardHandler)).ServeHTTP(w, r)
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", w.Header())
	}
}
