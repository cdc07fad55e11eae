package daemon

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
	list, port, err := Listeners(t.Context(), Where{Flag: "--listen", Address: "localhost:" +
		strconv.Itoa(taken)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if CloseAll(list); port <= taken || port > taken+tries {
		t.Errorf("%d is taken; it listens on %d", taken, port)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} {
		if list, port, err := Listeners(t.Context(), Where{"--listen", host + ":" + strconv.Itoa(taken),
			true}, nil); err == nil {
			CloseAll(list)
			t.Errorf("%s: %d was asked for and is taken; it listens on %d", host, taken, port)
		}
		list, port, err := Listeners(t.Context(), Where{"--listen", host + ":0", true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range []string{"127.0.0.1", "::1"} {
			c, err := net.Dial("tcp", net.JoinHostPort(family, strconv.Itoa(port)))
			if err != nil {
				t.Errorf("%s does not listen on %s: %v", host, family, err)
				continue
			}
			_ = c.Close()
		}
		CloseAll(list)
	}
}
