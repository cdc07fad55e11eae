package cage

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// refusedError says why an address is not dialled.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// dial reaches a host: its name is looked up once, and that address is dialled. Where this
// server itself reaches the network by a proxy, that looks it up.
func (d *door) dial(asking context.Context, host, port string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(asking, dialPatience)
	defer cancel()
	own := d.isOwn(host, port)
	through, err := d.through(&url.URL{Scheme: "https", Host: net.JoinHostPort(host, port)})
	if err != nil {
		return nil, fmt.Errorf("read this server's HTTPS_PROXY: %w", err)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if why := near(ip); why != "" && !own {
			return nil, &refusedError{why}
		}
	} else if through != nil {
		if isLocalName(host) && !own {
			return nil, &refusedError{nearMachine}
		}
	}
	if through != nil {
		return dialThrough(ctx, through, net.JoinHostPort(host, port))
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	var dialer net.Dialer
	for _, ip := range ips {
		if why := near(ip); why != "" && !own {
			err = &refusedError{why}
			continue
		}
		if !d.mayReach(asking, ip.Unmap(), host, port) {
			err = &refusedError{"it leads to the private address " + ip.Unmap().String() +
				", which was not allowed"}
			continue
		}
		ctx, cancel := context.WithTimeout(asking, dialPatience)
		defer cancel()
		conn, failed := dialer.DialContext(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
		if failed == nil {
			return conn, nil
		}
		err = failed
	}
	return nil, err
}

// Public reaches hosts that are neither this machine nor in a private network, and no proxy: what
// is judged is the address it connects to, so a name that leads elsewhere at a second look-up leads
// nowhere.
func Public() *http.Transport {
	return &http.Transport{DialContext: dialPublic, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: 64 << 10}
}

func dialPublic(asking context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(asking, dialPatience)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	var dialer net.Dialer
	for _, ip := range ips {
		if near(ip) != "" || isInner(ip) {
			err = &refusedError{"it leads to this machine or to a private network"}
			continue
		}
		conn, failed := dialer.DialContext(ctx, network, net.JoinHostPort(ip.Unmap().String(), port))
		if failed == nil {
			return conn, nil
		}
		err = failed
	}
	return nil, err
}

// innerNets are private networks beside those of [netip.Addr.IsPrivate]: of carriers and VPNs, for
// tests, reserved, and the forms in which IPv6 carries an IPv4 address.
var innerNets = prefixes("100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4",
	"fec0::/10", "::/96", "64:ff9b:1::/48", "2002::/16")

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}

// nat64 carries IPv4 addresses in the last four bytes.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// plain unwraps an IPv4 address from its IPv6 forms.
func plain(ip netip.Addr) netip.Addr {
	if ip = ip.Unmap().WithZone(""); nat64.Contains(ip) {
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// isInner reports whether an address is one of a private network.
func isInner(ip netip.Addr) bool {
	ip = plain(ip)
	return ip.IsPrivate() || slices.ContainsFunc(innerNets, func(n netip.Prefix) bool {
		return n.Contains(ip)
	})
}

// isHere reports whether an address is one of this machine's.
func isHere(ip netip.Addr) bool {
	all, _ := net.InterfaceAddrs() // without them none is known
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		at, err := netip.ParsePrefix(a.String())
		return err == nil && plain(at.Addr()) == plain(ip)
	})
}

const nearMachine = "it is this machine, or an address of the local link"

// near says why an address is reached by its owner only.
func near(ip netip.Addr) string {
	if ip = plain(ip); isHere(ip) || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() ||
		ip.IsUnspecified() {
		return nearMachine
	}
	return ""
}

func isLocalName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// dialThrough reaches an address through the server's own proxy.
func dialThrough(ctx context.Context, proxy *url.URL, address string) (net.Conn, error) {
	at := proxy.Host
	if proxy.Port() == "" {
		at = net.JoinHostPort(proxy.Hostname(), "80")
	}
	if proxy.Scheme != "http" {
		return nil, fmt.Errorf("this server's HTTPS_PROXY has the scheme %q: set one with http",
			proxy.Scheme)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, fmt.Errorf("reach this server's HTTPS_PROXY: %w", err)
	}
	head := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+
			password)) + "\r\n"
	}
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until)
	}
	r := bufio.NewReader(conn)
	if _, err = io.WriteString(conn, head+"\r\n"); err == nil {
		var answer *http.Response
		if answer, err = http.ReadResponse(r, &http.Request{Method: http.MethodConnect}); err == nil &&
			answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("this server's HTTPS_PROXY answers %s", answer.Status)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	_ = conn.SetDeadline(time.Time{})
	return &readAhead{conn, r}, nil
}

// readAhead is a connection of which some was read before.
type readAhead struct {
	net.Conn
	r *bufio.Reader
}

func (c *readAhead) Read(b []byte) (int, error) { return c.r.Read(b) }

// HostPort is the host and port of an http or https address, as in [Needs].Own; empty: it has none.
func HostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// CheckHost says what is wrong with a host of [Settings].
func CheckHost(named string) error {
	name, port, err := net.SplitHostPort(named)
	if err != nil {
		name, port = strings.Trim(named, "[]"), "443"
	}
	n, err := strconv.Atoi(port)
	name = strings.TrimPrefix(name, "*.")
	if _, bad := netip.ParseAddr(name); bad != nil &&
		(name == "" || strings.ContainsAny(name, "/:*?@ ")) || err != nil || n < 1 || n > 65535 {
		return fmt.Errorf(
			"hosts: %q is not a name such as registry.npmjs.org, *.example.com or example.com:8443", named)
	}
	return nil
}
