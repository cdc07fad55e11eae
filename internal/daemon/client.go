package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

const (
	askTime   = 10 * time.Second
	openTime  = 2 * time.Minute // how long a file to show may take, with hooks that have a say in it
	pruneTime = time.Hour       // how long a server may take to prune
	stopTime  = 20 * time.Second
	stopTick  = 20 * time.Millisecond // how often it is looked whether it has ended
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

// Logout ends every sign-in, or those of a user, and returns how many there were.
func (c Client) Logout(ctx context.Context, user string) (int, error) {
	r, err := c.ask(ctx, "logout?user="+url.QueryEscape(user), askTime)
	return r.SignedOut, err
}

// UserToken makes an API token of a user.
func (c Client) UserToken(ctx context.Context, user string) (string, error) {
	r, err := c.ask(ctx, "token?user="+url.QueryEscape(user), askTime)
	return r.Token, err
}

// Prune deletes the sessions that were not used for so long.
func (c Client) Prune(ctx context.Context, older time.Duration) (Pruned, error) {
	r, err := c.ask(ctx, "prune?older="+older.String(), pruneTime)
	return r.Pruned, err
}

// Stop ends the server and returns when it has let go of the data folder.
func (c Client) Stop(ctx context.Context) (Info, error) {
	info, err := c.find()
	if err != nil {
		return info, err
	}
	if _, err = c.ask(ctx, "stop", askTime); err != nil {
		return info, err
	}
	limit, tick := time.After(stopTime), time.NewTicker(stopTick)
	defer tick.Stop()
	for {
		if held, err := isLocked(c.Dir); err != nil || !held {
			return info, err
		}
		select {
		case <-tick.C:
		case <-limit:
			return info, fmt.Errorf("webchat with pid %d has not ended within %v; end it with \"kill %d\"",
				info.PID, stopTime, info.PID)
		case <-ctx.Done():
			return info, ctx.Err()
		}
	}
}

var (
	// ErrNone is wrapped when no server runs.
	ErrNone = errors.New("no webchat runs")
	// ErrRefused is wrapped when the running server does not do what it was asked.
	ErrRefused = errors.New("refused")
	// ErrUnable is wrapped when the running server cannot do now what it was asked.
	ErrUnable = errors.New("nothing was shown")
)

// Opening is what a command asks the running server to open.
type Opening struct {
	// absolute paths of workspaces; the first is the one to land in
	Folders []string `json:"folders"`
	File    string   `json:"file,omitempty"` // absolute path of a file of that to show
	Line    int      `json:"line,omitempty"` // to go to; 0: none
	Name    string   `json:"name,omitempty"` // what is shown is called
	// Worktree begins a session in a worktree of its own of the first folder's repository.
	Worktree bool `json:"worktree,omitempty"`
	// those of the server that were given, in which it must not differ
	Flags map[string]string `json:"flags"`
}

// Shown is what the server says of what it shows, a line of JSON each.
type Shown struct {
	URL   string `json:"url,omitempty"` // a sign-in link that leads there, once it is there
	Error string `json:"error,omitempty"`
}

// Open has the server open something and returns a sign-in link that leads there.
func (c Client) Open(ctx context.Context, o Opening) (string, error) {
	r, err := c.ask(ctx, "open?opening="+o.query(), openTime)
	return r.URL, err
}

// Show returns a connection over which the server shows what is written to it, and says
// in lines of [Shown] what comes of that.
func (c Client) Show(ctx context.Context, o Opening) (*Lent, error) {
	return c.connect(ctx, "show?opening="+o.query(), showUpgrade)
}

func (o Opening) query() string {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts and a number
	}
	return url.QueryEscape(string(b))
}

// Lend returns a connection over which the running server serves an MCP client in a
// folder. CloseWrite of it says that nothing more is asked. The error wraps [ErrNone]
// if no server runs.
func (c Client) Lend(ctx context.Context, folder string) (*Lent, error) {
	return c.connect(ctx, "mcp?folder="+url.QueryEscape(folder), mcpUpgrade)
}

// connect makes a request a connection.
func (c Client) connect(ctx context.Context, what, upgrade string) (*Lent, error) {
	info, err := c.find()
	if err != nil {
		return nil, err
	}
	dialed, err := c.dial(ctx)
	if err != nil {
		return nil, c.silent(info, err)
	}
	conn := dialed.(*net.UnixConn)
	req, err := http.NewRequest(http.MethodPost, "http://localhost/"+what, nil)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {upgrade},
		"Authorization": {"Bearer " + c.Token}}
	if err := errors.Join(conn.SetDeadline(time.Now().Add(askTime)), req.Write(conn)); err != nil {
		return nil, errors.Join(c.silent(info, err), conn.Close())
	}
	read := bufio.NewReader(conn)
	res, err := http.ReadResponse(read, req)
	if err != nil {
		return nil, errors.Join(c.silent(info, err), conn.Close())
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 1<<12)) // what there is of it
		return nil, errors.Join(info.refused(res.StatusCode, b), conn.Close())
	}
	return &Lent{UnixConn: conn, read: read}, conn.SetDeadline(time.Time{})
}

// Lent is a connection to what the running server lends.
type Lent struct {
	*net.UnixConn
	read io.Reader // has what came behind the answer
}

// Read implements [io.Reader].
func (l *Lent) Read(b []byte) (int, error) { return l.read.Read(b) }

// find returns what is known of the running server.
func (c Client) find() (Info, error) {
	info, err := Read(c.Dir)
	if err == nil && info.URL != "" {
		return info, nil
	}
	for _, place := range sockets(c.Dir) { // the disk may have been too full for server.json
		if _, err := os.Lstat(place); err == nil {
			return info, nil
		}
	}
	return info, c.none()
}

// dial connects to the socket of the running server. One of a killed server may lie
// beside it.
func (c Client) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	places := sockets(c.Dir)
	conn, err := d.DialContext(ctx, "unix", places[0])
	// else another user would get the token
	if err != nil && checkFolder(filepath.Dir(places[1])) == nil {
		conn, err = d.DialContext(ctx, "unix", places[1])
	}
	return conn, err
}

func (c Client) none() error {
	return fmt.Errorf(
		"%w with the data folder %s: start it, or say which with --workspace or --data-dir", ErrNone,
		c.Dir)
}

// silent says why there is no answer: a server that was killed leaves its files behind.
func (c Client) silent(i Info, err error) error {
	if held, e := isLocked(c.Dir); e == nil && !held {
		return c.none()
	}
	if err = Plain(err); errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s does not answer: try again, or end that process", i.Name())
	}
	return fmt.Errorf("%s does not answer: %w", i.Name(), err)
}

// Name is the server as messages name it: without its pid if the disk was too full for
// server.json.
func (i Info) Name() string {
	if i.PID == 0 {
		return "the webchat that runs"
	}
	return fmt.Sprintf("webchat with pid %d", i.PID)
}

// refused is an answer that is not what was asked for.
func (i Info) refused(status int, why []byte) error {
	if status == http.StatusServiceUnavailable {
		return fmt.Errorf("%s: %w%s", i.Name(), ErrUnable,
			bytes.TrimPrefix(bytes.TrimSpace(why), []byte(ErrUnable.Error())))
	}
	return fmt.Errorf("%s %w: %s", i.Name(), ErrRefused, bytes.TrimSpace(why))
}

func (c Client) ask(ctx context.Context, what string, limit time.Duration) (r reply, err error) {
	info, err := c.find()
	if err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dial(ctx) }}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/"+what, nil)
	if err != nil {
		return r, err
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	res, err := client.Do(req)
	if err != nil {
		return r, c.silent(info, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return r, err
	}
	if res.StatusCode != http.StatusOK {
		return r, info.refused(res.StatusCode, b)
	}
	return r, json.Unmarshal(b, &r)
}
