package jsonrpc_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"webchat/internal/jsonrpc"
)

// halves are the two pipes of a child: what we write to and what we read from.
type halves struct {
	io.Reader
	io.Writer
	close func() error
}

func (h halves) Close() error { return h.close() }

// child connects us with a peer that has the other ends.
func child(t *testing.T, framing jsonrpc.Framing) (c *jsonrpc.Conn, stdin, stdout *os.File) {
	t.Helper()
	stdin, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c = jsonrpc.New(halves{ourIn, ourOut, func() error {
		return errors.Join(ourIn.Close(), ourOut.Close())
	}}, jsonrpc.Config{Framing: framing})
	t.Cleanup(func() { _ = c.Close(); _ = stdin.Close(); _ = stdout.Close() })
	return c, stdin, stdout
}

// Fault 15: a peer that closes one of its pipes and stays alive is a peer that has
// gone: calls end, with a reason, and nothing waits.
func TestFaultF15HalfClosedPipes(t *testing.T) {
	for name, framing := range framings {
		t.Run(name+", its output", func(t *testing.T) {
			c, _, stdout := child(t, framing)
			if err := stdout.Close(); err != nil {
				t.Fatal(err)
			}
			if err := c.Call(t.Context(), "x", nil, nil); !errors.Is(err, jsonrpc.ErrClosed) {
				t.Errorf("a call: %v", err)
			}
			<-c.Done()
			if !errors.Is(c.Err(), io.EOF) {
				t.Errorf("ended with %v", c.Err())
			}
		})
		t.Run(name+", its input", func(t *testing.T) {
			c, stdin, _ := child(t, framing)
			if err := stdin.Close(); err != nil {
				t.Fatal(err)
			}
			err := c.Call(t.Context(), "x", strings.Repeat("x", 1<<17), nil)
			if !errors.Is(err, jsonrpc.ErrClosed) {
				t.Errorf("a call: %v", err)
			}
			<-c.Done()
			if c.Err() == nil {
				t.Error("ended without a reason")
			}
		})
		t.Run(name+", in the middle of a frame", func(t *testing.T) {
			c, _, stdout := child(t, framing)
			if _, err := io.WriteString(stdout,
				"Content-Length: 100\r\n\r\n{\"jsonrpc\":\"2.0\""); err != nil {
				t.Fatal(err)
			}
			if err := stdout.Close(); err != nil {
				t.Fatal(err)
			}
			<-c.Done()
			if c.Err() == nil {
				t.Error("ended without a reason")
			}
		})
	}
}
