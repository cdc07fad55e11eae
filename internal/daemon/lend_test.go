package daemon

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLendingAConnection(t *testing.T) {
	dir := t.TempDir() + "/data"
	ended := make(chan error, 1)
	c := running(t, dir, ControlConfig{Lend: func(folder string) (func(context.Context,
		io.ReadWriteCloser) error, error) {
		if folder != "/home/me/relay & co" {
			return nil, errors.New("it works elsewhere")
		}
		return func(ctx context.Context, conn io.ReadWriteCloser) error {
			b, err := io.ReadAll(conn) // until the other side says that this is all
			_, said := io.WriteString(conn, strings.ToUpper(string(b)))
			ended <- errors.Join(err, said, conn.Close(), ctx.Err())
			return nil
		}, nil
	}})
	conn, err := c.Lend(t.Context(), "/home/me/relay & co")
	if err != nil {
		t.Fatal(err)
	}
	_, wrote := io.WriteString(conn, "hello\n")
	if err := errors.Join(wrote, conn.CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(conn); err != nil || string(b) != "HELLO\n" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := errors.Join(<-ended, conn.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Lend(t.Context(), "/other"); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "it works elsewhere") {
		t.Errorf("another folder: %v", err)
	}
	if _, err := (Client{Dir: dir, Token: "wrong"}).Lend(t.Context(),
		"/home/me/relay & co"); !errors.Is(err, ErrRefused) {
		t.Errorf("without the token: %v", err)
	}
	if _, err := (Client{Dir: t.TempDir(), Token: "secret"}).Lend(t.Context(),
		"/work"); !errors.Is(err, ErrNone) {
		t.Errorf("without a server: %v", err)
	}
}

func TestTheEndOfTheServerEndsLentConnections(t *testing.T) {
	begun, gone := make(chan struct{}), make(chan struct{})
	var conn *Lent
	t.Run("server", func(t *testing.T) {
		c := running(t, t.TempDir()+"/data", ControlConfig{Lend: func(string) (func(context.Context,
			io.ReadWriteCloser) error, error) {
			return func(ctx context.Context, conn io.ReadWriteCloser) error {
				close(begun)
				<-ctx.Done()
				close(gone)
				return conn.Close()
			}, nil
		}})
		var err error
		if conn, err = c.Lend(context.Background(), "/work"); err != nil {
			t.Fatal(err)
		}
		<-begun
	})
	<-gone
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open")
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
