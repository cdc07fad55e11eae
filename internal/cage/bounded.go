package cage

import (
	"net"
	"sync"
)

// mostConns bounds the connections of a tree to its door: each takes a file of this server's.
const mostConns = 512

// bounded is a listener whose connections are bounded, with those of others of the same room. One
// more is closed.
type bounded struct {
	net.Listener
	room chan struct{} // has one of each connection
	full func()
}

// Accept implements [net.Listener].
func (b bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.room <- struct{}{}:
			return &counted{Conn: c, leave: sync.OnceFunc(func() { <-b.room })}, nil
		default:
			_ = c.Close() // there is nothing to say to it
			b.full()
		}
	}
}

// counted is a connection of a [bounded].
type counted struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite says that no more comes.
func (c *counted) CloseWrite() error {
	closeWrite(c.Conn)
	return nil
}
