package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// tries is how many ports after the usual one are looked at.
const tries = 100

type controlFunc = func(network, address string, c syscall.RawConn) error

// Where is an address to listen on, as a flag gives it.
type Where struct {
	Flag    string // its name, such as --listen
	Address string // host:port
	Fixed   bool   // the port is kept; else the next free one is taken
}

// Listeners opens the listeners of an address; all have the same port, which is returned. The pages
// are shown as localhost, which a browser may look for in either loopback family first, so an
// address of one of them gets both: no other program can have the other. control is that of
// [net.ListenConfig].
func Listeners(ctx context.Context, at Where,
	control controlFunc) ([]net.Listener, int, error) {
	host, text, err := net.SplitHostPort(at.Address)
	if err != nil {
		return nil, 0, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, 0, err
	}
	hosts := []string{host}
	if strings.EqualFold(host, "localhost") || host == "127.0.0.1" || host == "::1" {
		hosts = []string{"127.0.0.1", "::1"}
	}
	last := port
	if !at.Fixed {
		last += tries
	}
	for p := port; ; p++ {
		list, err := listenAll(ctx, control, hosts, p)
		switch {
		case err == nil:
			return list, list[0].Addr().(*net.TCPAddr).Port, nil
		case !errors.Is(err, syscall.EADDRINUSE) && !isWindowsInUse(err):
			return nil, 0,
				fmt.Errorf("listen on %s: %w; choose another with %s", at.Address, Plain(err), at.Flag)
		case p >= last:
			return nil, 0,
				fmt.Errorf(
					"port %d is in use by another program: choose another with %[2]s, such as %[2]s localhost:0",
					port, at.Flag)
		}
	}
}

// listenAll listens on one port of every host. Port 0 is picked by the first; when
// another program has it on the second family, another is picked.
func listenAll(ctx context.Context, control controlFunc, hosts []string,
	port int) (list []net.Listener, err error) {
	for range 10 {
		if list, err = listenOnce(ctx, control, hosts, port); err == nil || port != 0 {
			return list, err
		}
	}
	return nil, err
}

func listenOnce(ctx context.Context, control controlFunc, hosts []string,
	port int) (list []net.Listener, err error) {
	config := net.ListenConfig{Control: control}
	for _, h := range hosts {
		l, err := config.Listen(ctx, "tcp", net.JoinHostPort(h, strconv.Itoa(port)))
		if err != nil {
			if len(list) > 0 && isMissingFamily(err) {
				continue // a machine without IPv6
			}
			CloseAll(list)
			return nil, err
		}
		list = append(list, l)
		port = l.Addr().(*net.TCPAddr).Port
	}
	return list, nil
}

// CloseAll closes listeners that have not accepted a connection.
func CloseAll(list []net.Listener) {
	for _, l := range list {
		_ = l.Close() // nothing was accepted
	}
}

func isMissingFamily(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) ||
		errors.Is(err, syscall.EPROTONOSUPPORT)
}

// isWindowsInUse knows WSAEADDRINUSE and WSAEACCES, which an exclusively used port
// gives there.
func isWindowsInUse(err error) bool {
	return errors.Is(err, syscall.Errno(10048)) || errors.Is(err, syscall.Errno(10013))
}
