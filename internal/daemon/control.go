package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ControlConfig is what the command line may ask of the running server.
type ControlConfig struct {
	Dir string // the data folder
	// Protect lets requests with the API token through.
	Protect func(http.Handler) http.Handler
	Link    func() string // a fresh sign-in link
	// ends the sign-ins of a user, or of everybody, and returns how many there were
	Logout func(user string) (int, error)
	Token  func(user string) (string, error) // makes an API token of a user
	// deletes what was not used for so long
	Prune func(context.Context, time.Duration) (Pruned, error)
	Stop  func() // has the server end as after a signal
	// Open opens folders and shows a file, and returns a sign-in link that leads there.
	Open func(context.Context, Opening) (string, error)
	// Show returns what shows a name's content as it comes over a connection, until that
	// or its context ends. The first line it writes is a [Shown].
	Show func(Opening) (func(context.Context, io.ReadWriteCloser) error, error)
	// Lend returns what serves an MCP client in a folder over a connection until that or
	// its context ends; an error says why this server does not. nil: it never does.
	Lend func(folder string) (func(context.Context, io.ReadWriteCloser) error, error)
}

// Control is how "webchat url" and other commands ask the running server: HTTP
// over a socket that only the user can open. (On Windows the folder's access list
// says who can.) A caller also shows the API token, which is as private.
type Control struct {
	config ControlConfig
	path   string
	is     fs.FileInfo // of the socket: another server may have made its own there
	temp   string      // the folder made for the socket, if it is not in the data folder
	server *http.Server
	done   chan error
	lent   sync.WaitGroup  // connections that requests became
	ctx    context.Context // of those
	cancel context.CancelFunc
}

// sockets are where the socket of a data folder may be: in it, or, if it cannot have
// one (its path is too long, its disk takes nothing), among the user's temporary files.
func sockets(dir string) [2]string {
	name := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		name = real
	}
	sum := sha256.Sum256([]byte(name))
	return [2]string{filepath.Join(dir, "control"),
		filepath.Join(os.TempDir(), fmt.Sprintf("webchat-%d-%x", os.Getuid(), sum[:8]), "control")}
}

type reply struct {
	URL       string `json:"url,omitempty"`
	SignedOut int    `json:"signedOut"`
	Token     string `json:"token,omitempty"`
	Pruned    Pruned `json:"pruned"`
}

// listen opens the socket at path, instead of that of a server that was killed.
func (c *Control) listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var config net.ListenConfig
	c.path = path
	l, err := config.Listen(ctx, "unix", path)
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false)
	}
	return l, err
}

// Listen opens the control socket and answers until Close.
func Listen(ctx context.Context, config ControlConfig) (*Control, error) {
	c := &Control{config: config, done: make(chan error, 1)}
	l, err := c.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the control socket: %w", err)
	}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	err = os.Chmod(c.path, 0o600)
	if err == nil {
		c.is, err = os.Lstat(c.path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	c.server = &http.Server{
		Handler:           config.Protect(c.routes()),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       5 * time.Second,
		MaxHeaderBytes:    32 << 10,
	}
	go func() { c.done <- c.server.Serve(l) }()
	return c, nil
}

// open opens the socket in the data folder, or where that takes none, among the temporary files.
func (c *Control) open(ctx context.Context) (net.Listener, error) {
	places := sockets(c.config.Dir)
	l, err := c.listen(ctx, places[0])
	if err != nil {
		c.temp = filepath.Dir(places[1])
		if err = MakeFolder(c.temp); err == nil { // its name can be guessed: it may be another user's
			l, err = c.listen(ctx, places[1])
		}
	}
	return l, err
}

func (c *Control) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /url", c.serveURL)
	mux.HandleFunc("POST /logout", c.serveLogout)
	mux.HandleFunc("POST /token", c.serveToken)
	mux.HandleFunc("POST /prune", c.servePrune)
	mux.HandleFunc("POST /stop", c.serveStop)
	mux.HandleFunc("POST /open", c.serveOpen)
	mux.HandleFunc("POST /show", c.serveShow)
	mux.HandleFunc("POST /mcp", c.serveMCP)
	return mux
}

func (c *Control) serveURL(w http.ResponseWriter, _ *http.Request) {
	answer(w, reply{URL: c.config.Link()}, nil)
}

func (c *Control) serveLogout(w http.ResponseWriter, r *http.Request) {
	n, err := c.config.Logout(r.URL.Query().Get("user"))
	answer(w, reply{SignedOut: n}, err)
}

func (c *Control) serveToken(w http.ResponseWriter, r *http.Request) {
	token, err := c.config.Token(r.URL.Query().Get("user"))
	if err != nil {
		http.Error(w, oneLine(err), http.StatusConflict)
		return
	}
	answer(w, reply{Token: token}, nil)
}

func (c *Control) servePrune(w http.ResponseWriter, r *http.Request) {
	older, err := time.ParseDuration(r.URL.Query().Get("older"))
	if err != nil || older <= 0 {
		http.Error(w, "older must be a duration", http.StatusBadRequest)
		return
	}
	p, err := c.config.Prune(r.Context(), older)
	if err != nil {
		http.Error(w, oneLine(err), http.StatusInternalServerError)
		return
	}
	answer(w, reply{Pruned: p}, nil)
}

func (c *Control) serveStop(w http.ResponseWriter, _ *http.Request) {
	answer(w, reply{}, nil)
	// the end of the server cuts connections; a caller that has gone needs no answer
	_ = http.NewResponseController(w).Flush()
	c.config.Stop()
}

func (c *Control) serveOpen(w http.ResponseWriter, r *http.Request) {
	o, err := openingIn(r)
	link := ""
	if err == nil {
		link, err = c.config.Open(r.Context(), o)
	}
	if err != nil {
		status := http.StatusConflict
		if errors.Is(err, ErrUnable) {
			status = http.StatusServiceUnavailable
		}
		http.Error(w, oneLine(err), status)
		return
	}
	answer(w, reply{URL: link}, nil)
}

func (c *Control) serveShow(w http.ResponseWriter, r *http.Request) {
	o, err := openingIn(r)
	if err != nil {
		http.Error(w,
			"what is to be shown cannot be read; start the server again with the version of this command",
			http.StatusBadRequest)
		return
	}
	c.connect(w, showUpgrade, func() (func(context.Context, io.ReadWriteCloser) error, error) {
		return c.config.Show(o)
	})
}

func (c *Control) serveMCP(w http.ResponseWriter, r *http.Request) {
	if c.config.Lend == nil {
		http.Error(w, "this server lends no tools", http.StatusNotFound)
		return
	}
	c.connect(w, mcpUpgrade, func() (func(context.Context, io.ReadWriteCloser) error, error) {
		return c.config.Lend(r.URL.Query().Get("folder"))
	})
}

// openingIn reads what a request asks to open.
func openingIn(r *http.Request) (o Opening, err error) {
	err = json.Unmarshal([]byte(r.URL.Query().Get("opening")), &o)
	return o, err
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// The protocols that a request for a connection changes to.
const (
	mcpUpgrade  = "webchat-mcp"
	showUpgrade = "webchat-show"
)

// connect makes a request a connection, which what begin returns serves.
func (c *Control) connect(w http.ResponseWriter, upgrade string,
	begin func() (func(context.Context, io.ReadWriteCloser) error, error)) {
	serve, err := begin()
	if err != nil {
		http.Error(w, oneLine(err), http.StatusConflict)
		return
	}
	c.lent.Add(1)
	defer c.lent.Done()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be used", http.StatusInternalServerError)
		return
	}
	_, err = io.WriteString(conn,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+upgrade+"\r\n\r\n")
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close() // the caller has gone
		return
	}
	_ = serve(c.ctx, struct { // how a client ends is not worth a log line
		io.Reader
		io.WriteCloser
	}{buffered, conn})
}

func answer(w http.ResponseWriter, v reply, err error) {
	if err != nil {
		http.Error(w, "the sign-ins could not be revoked on disk", http.StatusInternalServerError)
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string and a number
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) // the caller may have gone
}

// Close ends the answers and removes the socket. A nil Control has nothing to end.
func (c *Control) Close() error {
	if c == nil {
		return nil
	}
	err := c.server.Close()
	<-c.done
	if now, gone := os.Lstat(c.path); gone == nil && os.SameFile(now, c.is) {
		err = errors.Join(err, remove(c.path))
	}
	c.cancel()
	c.lent.Wait()
	if c.temp != "" {
		err = errors.Join(err, os.Remove(c.temp))
	}
	return err
}
