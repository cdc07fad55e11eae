package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"webchat/internal/sessions"
)

// fixedPeers are replicas that stay.
type fixedPeers []sessions.Peer // this one first

func (p fixedPeers) Self() sessions.Peer    { return p[0] }
func (p fixedPeers) Peers() []sessions.Peer { return p[1:] }

// Replicas that do not see one folder say so, once; those that do say nothing.
func TestSharedFolderIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, another := t.TempDir(), t.TempDir()
		dead := filepath.Join(one, replicasFolder, "1")
		if err := os.MkdirAll(filepath.Dir(dead), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dead, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dead, time.Time{}, time.Now().Add(-2*markLasts)); err != nil {
			t.Fatal(err)
		}
		a, b, c := sessions.Peer{Number: 2, URL: "http://a"}, sessions.Peer{Number: 3, URL: "http://b"},
			sessions.Peer{Number: 4, URL: "http://c"}
		var said [3]bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		for i, run := range []struct {
			dir   string
			peers fixedPeers
		}{{one, fixedPeers{a, b}}, {one, fixedPeers{b, a}}, {another, fixedPeers{c, a, b}}} {
			go func() {
				markShared(ctx, run.dir, run.peers, slog.New(slog.NewTextHandler(&said[i], nil)))
				done <- struct{}{}
			}()
		}
		time.Sleep(10 * markEvery)
		synctest.Wait()
		if !sees(one, 2) || !sees(one, 3) || sees(one, 1) || sees(another, 2) || sees(one, 4) {
			t.Error("the files of the replicas")
		}
		stop()
		for range said {
			<-done
		}
		if said[0].Len()+said[1].Len() > 0 || strings.Count(said[2].String(),
			"another --shared-dir") != 2 {
			t.Errorf("%s\n%s\n%s", &said[0], &said[1], &said[2])
		}
		if sees(one, 2) || sees(one, 3) {
			t.Error("a file of a replica that ended")
		}
	})
}

// An address at which another replica answers is refused; one without an answer is logged.
func TestAddressOfAnother(t *testing.T) {
	number := "7"
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && number != "" {
			w.Header().Set("Webchat-Replica", number)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer at.Close()
	var log bytes.Buffer
	o := &engineFlags{PeerURL: at.URL + "/"}
	check := func() error {
		return o.checkAddress(t.Context(), sessions.Peer{Number: 7},
			slog.New(slog.NewTextHandler(io.MultiWriter(&log), nil)))
	}
	if err := check(); err != nil || log.Len() > 0 {
		t.Errorf("itself: %v %s", err, &log)
	}
	number = "8"
	if err := check(); err == nil || !strings.Contains(err.Error(), "another webchat answers there") {
		t.Errorf("another: %v", err)
	}
	number = ""
	if err := check(); err != nil || !strings.Contains(log.String(), "does not reach itself") {
		t.Errorf("no answer: %v %s", err, &log)
	}
}

// Agents call the server that lends them tools at its own address, where it has one on loopback.
func TestAgentsCallTheirOwnServer(t *testing.T) {
	for listen, want := range map[string]string{"localhost:80": "http://localhost:80",
		"127.0.0.1:80": "http://localhost:80", ":80": "http://127.0.0.1:80",
		"0.0.0.0:80": "http://127.0.0.1:80", "[::]:80": "http://127.0.0.1:80",
		"10.0.0.5:80": "https://chat.example"} {
		o := &options{Listen: listen, PublicURL: "https://chat.example"}
		if got := o.ownURL("http://localhost:80", 80); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
		if o.PublicURL = ""; o.ownURL("http://localhost:80", 80) != "http://localhost:80" {
			t.Errorf("%s without a public URL", listen)
		}
	}
}

// A server that is stopped while it opens its database was not started wrongly.
func TestStoppedWhileItOpensTheDatabase(t *testing.T) {
	dir := t.TempDir()
	o := &engineFlags{EngineFile: filepath.Join(dir, "engine")}
	if err := os.WriteFile(o.EngineFile, []byte("postgres://webchat@127.0.0.1:1/none"),
		0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := o.openEngine(ctx, dir, nil, func() {}, slog.New(slog.DiscardHandler)); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
}
