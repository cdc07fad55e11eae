package cage

import (
	"context"
	"net"
	"net/netip"
	"strings"
)

// mostAsked bounds the hosts of a workspace that wait for an answer; one more is refused at once.
const mostAsked = 32

const unopened = "the user was asked and did not open it"

// question is about a host that connections wait for.
type question struct {
	waiting int
	cancel  context.CancelFunc
	done    chan struct{} // closed when allowed is set
	allowed bool
}

// ask asks the user about a host, named as in [Settings], and about the private address that it
// leads to, if it does: once for all connections that wait for the same. It ends without an answer
// when the last of them goes away.
func (c *Cage) ask(ctx context.Context, named, address string) bool {
	if c.cfg.Ask == nil {
		return false
	}
	key := named + " " + address
	c.mu.Lock()
	if c.private[key] && address != "" {
		c.mu.Unlock()
		return true
	}
	q := c.questions[key]
	if q == nil {
		if len(c.questions) >= mostAsked {
			c.mu.Unlock()
			return false
		}
		asking, cancel := context.WithCancel(context.WithoutCancel(ctx))
		q = &question{cancel: cancel, done: make(chan struct{})}
		c.questions[key] = q
		c.putting.Go(func() { c.put(asking, q, named, address) })
	}
	q.waiting++
	c.mu.Unlock()
	select {
	case <-q.done:
		return q.allowed
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.waiting--; q.waiting == 0 {
		q.cancel()
	}
	return false
}

// put puts a question, and lets those go on that wait for it.
func (c *Cage) put(ctx context.Context, q *question, named, address string) {
	defer q.cancel()
	allowed := c.cfg.Ask(ctx, named, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	key := named + " " + address
	delete(c.questions, key)
	if q.allowed = allowed; allowed && address != "" {
		c.private[key] = true
	}
	close(q.done)
}

// closePrivate forgets the private addresses that were allowed for a host. The caller holds c.mu.
func (c *Cage) closePrivate(named string) {
	for key := range c.private {
		if strings.HasPrefix(key, named+" ") {
			delete(c.private, key)
		}
	}
}

// named is a host and port as [Settings] have it.
func named(host, port string) string {
	if port == "443" || port == "80" {
		return host
	}
	return net.JoinHostPort(host, port)
}

// asks holds a connection to a host that is not open while the user is asked. why says why they are
// not.
func (d *door) asks(ctx context.Context, host, port string) (allowed bool, why string) {
	ip, err := netip.ParseAddr(host)
	switch {
	case isLocalName(host), err == nil && near(ip) != "":
		return false, nearMachine
	case d.ask == nil:
		return false, ""
	case err == nil && isInner(ip):
		return d.ask(ctx, named(host, port), host), unopened
	}
	return d.ask(ctx, named(host, port), ""), unopened
}

// mayReach reports whether an address that a host leads to may be dialled: a private one only for a
// host that the user named beforehand, or if they were asked about it.
func (d *door) mayReach(ctx context.Context, ip netip.Addr, host, port string) bool {
	if !isInner(ip) || d.ask == nil || d.isOwn(host, port) || d.isNamed(host, port) {
		return true
	}
	return d.ask(ctx, named(host, port), ip.String())
}
