package main

import (
	"net"
	"strconv"
	"testing"
)

// Both loopback families have the same port, or another program could answer as
// localhost beside us; a port of which one is taken is passed over, unless it was
// asked for.
func TestListenersHaveBothFamilies(t *testing.T) {
	other, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	defer other.Close()
	taken := other.Addr().(*net.TCPAddr).Port
	o := &options{Listen: "localhost:" + strconv.Itoa(taken)}
	list, port, err := o.listeners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if closeAll(list); port <= taken || port > taken+tries {
		t.Errorf("%d is taken; it listens on %d", taken, port)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		o := &options{Listen: host + ":" + strconv.Itoa(taken), listenGiven: true}
		if list, port, err := o.listeners(t.Context()); err == nil {
			closeAll(list)
			t.Errorf("%s: %d was asked for and is taken; it listens on %d", host, taken, port)
		}
		o.Listen = host + ":0"
		list, port, err := o.listeners(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range []string{"127.0.0.1", "::1"} {
			c, err := net.Dial("tcp", net.JoinHostPort(family, strconv.Itoa(port)))
			if err != nil {
				t.Errorf("%s does not listen on %s: %v", o.Listen, family, err)
				continue
			}
			_ = c.Close()
		}
		closeAll(list)
	}
}
