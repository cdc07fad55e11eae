package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"webchat/internal/daemon"
)

// A stop by the user ends "webchat show" without a word, also when its input has ended
// and the server is not done with it.
func TestShowIsStoppedAfterItsInput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("sockets are elsewhere there")
	}
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "control"))
	if err != nil {
		t.Skip(err) // the path of the folder is too long
	}
	defer l.Close()
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			served <- err
			return
		}
		in := bufio.NewReader(conn)
		_, err = http.ReadRequest(in)
		_, answered := io.WriteString(conn,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: webchat-show\r\n\r\n")
		_, ended := io.Copy(io.Discard, in)
		stop()
		_, gone := io.Copy(io.Discard, conn)
		served <- errors.Join(err, answered, ended, gone)
	}()
	conn, err := daemon.Client{Dir: dir}.Show(ctx, daemon.Opening{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"--no-open"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := (opener{o, io.Discard, io.Discard}).pipe(ctx, conn, dir,
		strings.NewReader("all of it")); err != nil {
		t.Error("the command says", err)
	}
	if err := errors.Join(conn.Close(), <-served); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}
