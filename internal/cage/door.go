package cage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of what passes a door.
const (
	dialPatience   = 20 * time.Second
	headerPatience = 30 * time.Second
	maxHeaders     = 64 << 10
)

// door is the way of one tree to the network. It reaches the hosts that are named, at
// addresses that it looks up itself, and nothing on this machine or beside it but what is
// the tree's own.
type door struct {
	hosts []string // see Settings
	// hosts that were opened since; nil: none
	opened func() []string
	// asks the user about a host; nil: it is refused
	ask  func(ctx context.Context, host, address string) bool
	own  []string // host:port
	lent string   // the address of webchat's MCP; empty: none
	// the proxy by which this server reaches an address; nil: none
	through func(*url.URL) (*url.URL, error)
	forward []int // ports of this machine's loopback that the tree's model is at
	logger  *slog.Logger
	agent   string   // see Needs
	covered []string // what was when its tree started

	mu      sync.Mutex
	closed  bool                 // guarded by mu
	closing []io.Closer          // guarded by mu: listeners and servers
	open    map[net.Conn]passage // guarded by mu: those to hosts, and tunnels
	refused []string             // guarded by mu: what was not reached since that was asked
	running sync.WaitGroup
}

// passage is where a tunnel leads; without a host it is the tree's own.
type passage struct{ host, port string }

// cut closes the connections to hosts that were closed.
func (d *door) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c, to := range d.open {
		if to.host != "" && !d.allows(to.host, to.port) {
			_ = c.Close()
		}
	}
}

// lends reports whether there is a second door.
func (d *door) lends() bool { return d.lent != "" }

// serve takes the listeners inside: the proxy's, then that of MCP if something is lent, then
// those of forward.
func (d *door) serve(listeners []net.Listener) {
	handlers := []http.Handler{http.HandlerFunc(d.proxy)}
	if d.lends() {
		handlers = append(handlers, d.lentOnly())
	}
	room := make(chan struct{}, mostConns)
	full := sync.OnceFunc(func() {
		d.logger.Warn("a sandbox has too many connections, and no more are taken", "most", mostConns)
	})
	for i, l := range listeners {
		l = bounded{l, room, full}
		if i < len(handlers) {
			s := &http.Server{
				Handler:           handlers[i],
				ReadHeaderTimeout: headerPatience,
				MaxHeaderBytes:    maxHeaders,
				ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
			}
			d.keep(s)
			d.running.Go(func() { _ = s.Serve(l) }) // it ends with the tree
			continue
		}
		d.keep(l)
		d.running.Go(func() { d.pass(l, d.forward[i-len(handlers)]) })
	}
}

func (d *door) keep(c io.Closer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = append(d.closing, c)
	if d.closed {
		_ = c.Close()
	}
}

// close ends all that passes.
func (d *door) close() {
	d.mu.Lock()
	d.closed = true
	for _, c := range d.closing {
		_ = c.Close()
	}
	for c := range d.open {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.running.Wait()
}

// proxy answers as a proxy: CONNECT, and plain http by its whole address.
func (d *door) proxy(w http.ResponseWriter, r *http.Request) {
	host, port, err := target(r)
	if err != nil {
		http.Error(w, "webchat: this is a proxy: "+err.Error(), http.StatusBadRequest)
		return
	}
	if !d.allows(host, port) {
		if allowed, why := d.asks(r.Context(), host, port); !allowed {
			d.refuse(w, host, port, why)
			return
		}
	}
	up, err := d.dial(r.Context(), host, port)
	if refused, ok := errors.AsType[*refusedError](err); ok {
		d.refuse(w, host, port, refused.why)
		return
	}
	if err != nil {
		http.Error(w, "webchat: "+err.Error(), http.StatusBadGateway)
		return
	}
	defer up.Close()
	if r.Method != http.MethodConnect {
		if leave, ok := d.enter(passage{host, port}, up); ok {
			forward(w, r, up)
			leave()
		}
		return
	}
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	d.tunnel(down, buffered.Reader, up, passage{host, port})
}

// target is the host and port that a request is for.
func target(r *http.Request) (host, port string, err error) {
	if r.Method == http.MethodConnect {
		host, port, err = net.SplitHostPort(r.Host)
	} else if r.URL.Scheme != "http" || r.URL.Host == "" {
		err = errors.New("it passes CONNECT, and http by the whole address")
	} else if host, port = r.URL.Hostname(), r.URL.Port(); port == "" {
		port = "80"
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	_, noIP := netip.ParseAddr(host)
	if n, bad := strconv.Atoi(port); err == nil &&
		(noIP != nil && !isHostName(host) || bad != nil || n < 1 || n > 65535) {
		err = errors.New("its address has no host and port")
	}
	return host, port, err
}

// isHostName reports whether a name may be one of a host, as the user is asked about it: without
// patterns and letters that look like something else.
func isHostName(host string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-_."
	return host != "" && len(host) <= 253 &&
		!strings.ContainsFunc(host, func(r rune) bool { return !strings.ContainsRune(letters, r) })
}

func (d *door) refuse(w http.ResponseWriter, host, port, why string) {
	d.logger.Info("the sandbox refused a host", "host", host, "port", port)
	d.noteRefused(host, port)
	if why == "" {
		why = "it is not among those that were opened"
	}
	w.Header().Set("Connection", "close")
	http.Error(w,
		fmt.Sprintf(
			"The sandbox of webchat does not reach %s: %s. To open a host, add it to hosts of sandbox in "+
				"webchat's config.yaml.", net.JoinHostPort(host, port), why), http.StatusForbidden)
}

// allows reports whether a host was named.
func (d *door) allows(host, port string) bool {
	return d.isOwn(host, port) || d.isNamed(host, port) || d.opened != nil &&
		isAmong(d.opened(), host, port)
}

// isNamed reports whether a host was named before the tree started.
func (d *door) isNamed(host, port string) bool { return isAmong(d.hosts, host, port) }

func isAmong(hosts []string, host, port string) bool {
	return slices.ContainsFunc(hosts, func(named string) bool {
		name, at, err := net.SplitHostPort(named)
		if err != nil {
			name, at = strings.Trim(named, "[]"), ""
		}
		name = strings.ToLower(name)
		if at != port && (at != "" || port != "80" && port != "443") {
			return false
		}
		below, wild := strings.CutPrefix(name, "*.")
		return name == host || wild && strings.HasSuffix(host, "."+below)
	})
}

func (d *door) isOwn(host, port string) bool {
	return slices.ContainsFunc(d.own, func(own string) bool {
		return strings.EqualFold(own, net.JoinHostPort(host, port))
	})
}

// forward sends a plain request on, once, and its answer back.
func forward(w http.ResponseWriter, r *http.Request, up net.Conn) {
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return up, nil }}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Header.Del("Proxy-Connection")
			p.Out.Header.Del("Proxy-Authorization")
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	proxy.ServeHTTP(w, r)
}

// lentOnly leads to webchat's MCP at the path that was lent, and to nothing else.
func (d *door) lentOnly() http.Handler {
	to, err := url.Parse(d.lent)
	direct := &http.Transport{Proxy: nil}
	d.keep(idle{direct})
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		Transport:     direct,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, to.Host
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err != nil || d.lent == "" || r.URL.EscapedPath() != to.EscapedPath() ||
			r.URL.RawQuery != "" || r.Header.Get("Upgrade") != "" {
			http.Error(w, "The sandbox of webchat leads to its tools only.", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// idle closes connections that wait for a next request.
type idle struct{ *http.Transport }

func (i idle) Close() error {
	i.CloseIdleConnections()
	return nil
}

// pass leads the connections of a listener to the same port of this machine.
func (d *door) pass(l net.Listener, port int) {
	for {
		down, err := l.Accept()
		if err != nil {
			return
		}
		d.running.Go(func() {
			defer down.Close()
			up, err := net.DialTimeout("tcp", net.JoinHostPort("localhost", strconv.Itoa(port)),
				dialPatience)
			if err != nil {
				return
			}
			defer up.Close()
			d.tunnel(down, down, up, passage{})
		})
	}
}

// enter registers connections, which are closed with the door, and when their host is, until leave
// is called. ok is false if the door is closed.
func (d *door) enter(to passage, conns ...net.Conn) (leave func(), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, false
	}
	if d.open == nil {
		d.open = map[net.Conn]passage{}
	}
	for _, c := range conns {
		d.open[c] = to
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, c := range conns {
			delete(d.open, c)
		}
	}, true
}

// tunnel copies both ways until both have ended, or the door closes.
func (d *door) tunnel(down net.Conn, from io.Reader, up net.Conn, to passage) {
	leave, ok := d.enter(to, down, up)
	if !ok {
		return
	}
	defer leave()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(up, from); closeWrite(up) })
	_, _ = io.Copy(down, up)
	closeWrite(down)
	both.Wait()
}

// closeWrite says that no more comes, where a connection can.
func closeWrite(c net.Conn) {
	if ahead, ok := c.(*readAhead); ok {
		c = ahead.Conn
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
