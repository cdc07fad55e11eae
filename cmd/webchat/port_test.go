package main

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// A server that was given no address says so when it has another port than usual.
func TestAnotherPortIsSaid(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, listen := range []string{other.Addr().String(), "127.0.0.1:0"} {
		o, err := parseOptions([]string{"--no-open", "--backend", "offline", "--data-dir",
			filepath.Join(t.TempDir(), "data"), "--workspace", t.TempDir()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Listen = listen
		var link string
		log := &told{}
		err = o.serve(t.Context(), o.Workspace, io.Discard, log,
			beside{ends: true, run: func(_ context.Context, r *rooms, _ func(string) error) error {
				link = r.handover.Link("")
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		_, asked, _ := net.SplitHostPort(listen)
		has, _, _ := strings.Cut(strings.TrimPrefix(link, "http://localhost:"), "/")
		want := "webchat: port " + asked +
			" is in use by another program, so this server listens on port " + has + "\n"
		if strings.Contains(log.String(), want) != (asked != "0") || asked == has {
			t.Errorf("asked for %s it listens on %s and says:\n%s", asked, has, log)
		}
	}
}
