package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/guard"
)

// control is how "webchat url" and "webchat logout" ask the running server: HTTP
// over a socket that only the user can open. (On Windows the folder's access list
// says who can.) Who asks also shows the API token, which is as private.
type control struct {
	path   string
	temp   string // a folder made for the socket, if the data folder's path is too long or it can only be read
	server *http.Server
	done   chan error
}

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 100

type controlReply struct {
	URL       string `json:"url,omitempty"`
	SignedOut int    `json:"signedOut"`
	Pruned    pruned `json:"pruned"`
}

// listen opens the socket at c.path, in place of that of a server that was killed.
func (c *control) listen(ctx context.Context) (net.Listener, error) {
	if err := remove(c.path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	return config.Listen(ctx, "unix", c.path)
}

func startControl(ctx context.Context, dir, base string, g *guard.Guard, prune func(context.Context, time.Duration) (pruned, error)) (_ *control, err error) {
	c := &control{path: filepath.Join(dir, "control"), done: make(chan error, 1)}
	var l net.Listener
	if len(c.path) <= maxSocketPath {
		l, err = c.listen(ctx)
	}
	if l == nil && (err == nil || takesNothing(err)) {
		if c.temp, err = os.MkdirTemp("", "webchat-"); err != nil { // 0700
			return nil, err
		}
		c.path = filepath.Join(c.temp, "control")
		l, err = c.listen(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	if err := os.Chmod(c.path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /url", func(w http.ResponseWriter, _ *http.Request) { answer(w, controlReply{URL: g.Link(base)}, nil) })
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, _ *http.Request) {
		n, err := g.RevokeAll()
		answer(w, controlReply{SignedOut: n}, err)
	})
	mux.HandleFunc("POST /prune", func(w http.ResponseWriter, r *http.Request) {
		older, err := time.ParseDuration(r.URL.Query().Get("older"))
		if err != nil || older <= 0 {
			http.Error(w, "older must be a duration", http.StatusBadRequest)
			return
		}
		p, err := prune(r.Context(), older)
		if err != nil {
			http.Error(w, oneLine(err), http.StatusInternalServerError)
			return
		}
		answer(w, controlReply{Pruned: p}, nil)
	})
	c.server = &http.Server{Handler: g.Bearer(mux), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 5 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() { c.done <- c.server.Serve(l) }()
	return c, nil
}

func answer(w http.ResponseWriter, v controlReply, err error) {
	if err != nil {
		http.Error(w, "the sign-ins could not be revoked on disk", http.StatusInternalServerError)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string and a number
	}
	_, _ = w.Write(b) // who asked may have gone
}

func (c *control) close() error {
	err := c.server.Close() // unlinks the socket
	<-c.done
	if c.temp != "" {
		err = errors.Join(err, os.RemoveAll(c.temp))
	}
	return err
}

// ask asks the running server of a data folder.
func ask(ctx context.Context, dir, token, what string) (reply controlReply, err error) {
	info, err := readServerInfo(dir)
	if err != nil || info.URL == "" {
		return reply, fmt.Errorf("no webchat runs with the data folder %s: start it, or say which with --workspace or --data-dir", dir)
	}
	path := info.Control
	if path == "" {
		path = filepath.Join(dir, "control")
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/"+what, bytes.NewReader(nil))
	if err != nil {
		return reply, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := client.Do(req)
	if err != nil {
		return reply, fmt.Errorf("webchat with pid %d does not answer: %w", info.PID, plainNet(err))
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return reply, err
	}
	if res.StatusCode != http.StatusOK {
		return reply, fmt.Errorf("webchat with pid %d refused: %s", info.PID, bytes.TrimSpace(b))
	}
	return reply, json.Unmarshal(b, &reply)
}
