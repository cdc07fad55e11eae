package server

import (
	"context"
	"net/http"
	"testing"
)

// A search that finds no turn within its time is refused as busy.
func TestSearchThatWaitsTooLong(t *testing.T) {
	s := &search{turns: make(chan struct{})} // others are at it
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := s.wait(ctx)
	if what, known := status(err); !known || what.status != http.StatusServiceUnavailable ||
		what.retry == "" {
		t.Errorf("%v is answered %+v", err, what)
	}
}
