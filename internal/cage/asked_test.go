package cage

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// What is not open is asked about once for all connections that wait for it, up to a bound, and
// until all have gone away. This machine and the local link are never asked about.
func TestDoorAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var asked []string
		answer := make(chan bool)
		c := &Cage{questions: map[string]*question{}, private: map[string]bool{}}
		ended := 0
		c.cfg.Ask = func(ctx context.Context, host, address string) bool {
			mu.Lock()
			asked = append(asked, strings.TrimSpace(host+" "+address))
			mu.Unlock()
			select {
			case yes := <-answer:
				return yes
			case <-ctx.Done():
				mu.Lock()
				defer mu.Unlock()
				ended++
				return false
			}
		}
		d := &door{ask: c.ask, opened: c.openHosts, hosts: []string{"named.example"}}
		ask := func(ctx context.Context, host, port string, done chan<- bool) {
			go func() { yes, _ := d.asks(ctx, host, port); done <- yes }()
		}
		done := make(chan bool, 100)
		for range 3 {
			ask(t.Context(), "registry.example", "443", done)
		}
		synctest.Wait()
		answer <- true
		for range 3 {
			if !<-done {
				t.Error("refused")
			}
		}
		near := []string{"localhost", "a.localhost", "127.0.0.1", "169.254.169.254", "::1", "0.0.0.0",
			"::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1%lo"}
		addrs, err := net.InterfaceAddrs()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range addrs {
			near = append(near, netip.MustParsePrefix(a.String()).Addr().String())
		}
		for _, host := range near {
			if yes, why := d.asks(t.Context(), host, "80"); yes || why == "" {
				t.Errorf("%s: %v %q", host, yes, why)
			}
		}
		away, leave := context.WithCancel(t.Context())
		ask(away, "gone.example", "8443", done)
		ask(away, "gone.example", "8443", done)
		synctest.Wait()
		leave()
		synctest.Wait()
		if ended != 1 || <-done || <-done {
			t.Errorf("%d questions ended with their connections", ended)
		}
		if want := "registry.example, gone.example:8443"; strings.Join(asked, ", ") != want {
			t.Errorf("asked %q, not %s", asked, want)
		}

		private := netip.MustParseAddr("10.1.2.3")
		go func() { answer <- true }()
		for _, name := range []string{"in.example", "in.example", "named.example"} {
			if !d.mayReach(t.Context(), private, name, "443") {
				t.Errorf("%s: a private address that was allowed is not reached", name)
			}
		}
		if asked[len(asked)-1] != "in.example 10.1.2.3" || len(asked) != 3 {
			t.Errorf("asked %q", asked)
		}
		for _, inner := range []string{"100.100.100.200", "64:ff9b::a01:203", "2002:a01:203::1",
			"fd12::1"} {
			go func() { answer <- true }()
			if !d.mayReach(t.Context(), netip.MustParseAddr(inner), "vpn.example", "443") ||
				asked[len(asked)-1] != "vpn.example "+inner {
				t.Errorf("%s: asked %q", inner, asked)
			}
		}
		end, err := c.OpenHost("in.example")
		if err != nil {
			t.Fatal(err)
		}
		_ = end()
		go func() { answer <- false }()
		if d.mayReach(t.Context(), private, "in.example", "443") {
			t.Error("it is reached after the host was closed")
		}

		many, stop := context.WithCancel(t.Context())
		for i := range mostAsked + 1 {
			ask(many, strings.Repeat("x", i+1)+".example", "443", done)
		}
		synctest.Wait()
		if <-done || len(c.questions) != mostAsked {
			t.Errorf("%d hosts wait", len(c.questions))
		}
		stop()
		synctest.Wait()
	})
}
