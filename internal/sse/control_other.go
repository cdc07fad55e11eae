//go:build !linux

package sse

import "syscall"

// ListenControl is for net.ListenConfig.Control of the listener that streams are served on. On this
// system it does nothing: TCP_USER_TIMEOUT is Linux's, and a peer that vanished without closing is
// noticed when the kernel's own retransmission limit is reached (minutes).
func ListenControl(string, string, syscall.RawConn) error { return nil }
