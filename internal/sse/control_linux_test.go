package sse

import (
	"net"
	"syscall"
	"testing"
)

// The option is set on the listener; what counts is that connections have it.
func TestListenControlReachesConnections(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6"} {
		t.Run(network, func(t *testing.T) {
			addr := map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"}[network]
			l, err := (&net.ListenConfig{Control: ListenControl}).Listen(t.Context(), network, addr)
			if err != nil {
				if network == "tcp6" {
					t.Skip("no IPv6 here:", err)
				}
				t.Fatal(err)
			}
			defer l.Close()
			near, err := net.Dial(network, l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if ms := userTimeoutOf(t, conn); ms != 30_000 {
				t.Errorf("TCP_USER_TIMEOUT is %d ms, want 30000", ms)
			}
			if ms := userTimeoutOf(t, near); ms != 0 {
				t.Errorf("without the control it is %d ms, which shows nothing", ms)
			}
		})
	}
}

func userTimeoutOf(t *testing.T, conn net.Conn) (ms int) {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	cerr := raw.Control(func(fd uintptr) {
		ms, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout)
	})
	if cerr != nil || err != nil {
		t.Fatal(cerr, err)
	}
	return ms
}

func TestListenControlLeavesOtherNetworksAlone(t *testing.T) {
	l, err := (&net.ListenConfig{Control: ListenControl}).Listen(t.Context(), "unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}
