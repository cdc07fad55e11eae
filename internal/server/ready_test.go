package server_test

import (
	"context"
	"net/http/httptest"
	"os"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/files"
	"webchat/internal/server"
	"webchat/internal/sessions"
	"webchat/internal/store/storetest"
)

// A server is ready from the end of recovery to the signal that ends it, and its sessions are not
// ready after their own end either.
func TestReadiness(t *testing.T) {
	h, db := newHouse(t), storetest.NewMemory()
	folders, err := files.WorkspaceIn(h.workspace)
	if err != nil {
		t.Fatal(err)
	}
	c := h.config
	c.Sessions, err = sessions.New(sessions.Config{
		Log:        db,
		Catalog:    db,
		Drafts:     db,
		Workspaces: folders,
		Backends:   []agent.Backend{offline.New(offline.Config{Path: os.Getenv("PATH")})},
		Room:       func(string) (sessions.Room, error) { return sessions.Room{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	c.Stopping = stopping
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := func(status int, word string) {
		t.Helper()
		r, w := httptest.NewRequest("GET", "http://10.0.0.5/readyz", nil), httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != status || w.Body.String() != word+"\n" {
			t.Errorf("%d %q, want %d %s", w.Code, w.Body, status, word)
		}
	}
	want(503, "starting")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- c.Sessions.Run(ctx) }()
	if _, err := c.Sessions.Get(ctx, "none"); err == nil { // it waits for recovery
		t.Error("a session that is not there")
	}
	want(200, "ready")
	close(stopping)
	want(503, "stopping")
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	if got := c.Sessions.Unready(); got != "stopping" {
		t.Errorf("sessions that ended: %q", got)
	}
}
