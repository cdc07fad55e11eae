package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"
)

const (
	askTime   = 10 * time.Second
	pruneTime = time.Hour // how long a server may take to prune
)

// Client asks the running server of a data folder.
type Client struct {
	Dir   string
	Token string // the API token
}

// Link returns a fresh sign-in link.
func (c Client) Link(ctx context.Context) (string, error) {
	r, err := c.ask(ctx, "url", askTime)
	return r.URL, err
}

// Logout ends every sign-in and returns how many there were.
func (c Client) Logout(ctx context.Context) (int, error) {
	r, err := c.ask(ctx, "logout", askTime)
	return r.SignedOut, err
}

// Prune deletes the sessions that were not used for so long.
func (c Client) Prune(ctx context.Context, older time.Duration) (Pruned, error) {
	r, err := c.ask(ctx, "prune?older="+older.String(), pruneTime)
	return r.Pruned, err
}

func (c Client) ask(ctx context.Context, what string, limit time.Duration) (r reply, err error) {
	info, err := Read(c.Dir)
	if err != nil || info.URL == "" {
		return r, fmt.Errorf("no webchat runs with the data folder %s: start it, or say which with --workspace or --data-dir", c.Dir)
	}
	path := info.Control
	if path == "" {
		path = filepath.Join(c.Dir, "control")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/"+what, nil)
	if err != nil {
		return r, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := client.Do(req)
	if err != nil {
		return r, fmt.Errorf("webchat with pid %d does not answer: %w", info.PID, Plain(err))
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return r, err
	}
	if res.StatusCode != http.StatusOK {
		return r, fmt.Errorf("webchat with pid %d refused: %s", info.PID, bytes.TrimSpace(b))
	}
	return r, json.Unmarshal(b, &r)
}
