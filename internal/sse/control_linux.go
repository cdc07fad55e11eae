package sse

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

const (
	// userTimeout is how long sent bytes may stay unacknowledged.
	userTimeout = 30 * time.Second
	// tcpUserTimeout is TCP_USER_TIMEOUT of linux/tcp.h, which package syscall lacks.
	tcpUserTimeout = 18
)

// ListenControl is for net.ListenConfig.Control of the listener that streams are served on. It sets
// TCP_USER_TIMEOUT to 30 s, which accepted connections inherit: a peer that vanished without
// closing (a lost network, a sleeping laptop) is then noticed some 30 s after the first heartbeat
// it does not acknowledge. A write deadline cannot do that, because heartbeats fit into the
// kernel's buffer for hours. It also ends a connection whose reader leaves its window shut for 30
// s.
//
// On systems other than Linux it does nothing: there the kernel's own retransmission limit applies
// (minutes).
func ListenControl(network, _ string, c syscall.RawConn) error {
	if network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil
	}
	var err error
	cerr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout,
			int(userTimeout.Milliseconds()))
	})
	if err = errors.Join(cerr, err); err != nil {
		return fmt.Errorf("sse: set TCP_USER_TIMEOUT on the listener: %w", err)
	}
	return nil
}
