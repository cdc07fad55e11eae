package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"webchat/internal/daemon"
	"webchat/internal/guard"
)

// madeDataDir makes the data folder.
func (o *options) madeDataDir() (string, error) {
	dir := o.dataPath()
	if o.container {
		if err := daemon.Reclaim(dir); err != nil {
			return dir, err
		}
	}
	err := daemon.MakeFolder(dir)
	if o.container && errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w, or let user %d write to the volume (in Kubernetes: fsGroup)", err,
			os.Getuid())
	}
	return dir, err
}

// credentials opens the data folder's secrets as the server does.
func (o *options) credentials() (dir string, g *guard.Guard, err error) {
	if dir, err = o.madeDataDir(); err != nil {
		return "", nil, err
	}
	g, err = guard.New(guard.Config{Dir: dir, Documents: o.documents(dir), TokenFile: o.TokenFile})
	return dir, g, err
}

func printToken(ctx context.Context, o *options, stdout, _ io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	token := g.Token()
	switch {
	case o.User != "":
		if token, err = (daemon.Client{Dir: dir, Token: g.Token()}).UserToken(ctx, o.User); err != nil {
			return err
		}
	case o.MCP:
		token = g.MCPToken()
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}

func printURL(ctx context.Context, o *options, stdout, _ io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	link, err := daemon.Client{Dir: dir, Token: g.Token()}.Link(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, link)
	return err
}

// logout asks the running server, for which it holds at once; without one it changes the document.
func logout(ctx context.Context, o *options, stdout, _ io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	n, err := daemon.Client{Dir: dir, Token: g.Token()}.Logout(ctx, o.User)
	if errors.Is(err, daemon.ErrNone) {
		n, err = g.Revoke(o.User)
	}
	if err != nil {
		return err
	}
	browsers := "browsers are"
	if n == 1 {
		browsers = "browser is"
	}
	_, err = fmt.Fprintf(stdout, "%d %s signed out\n", n, browsers)
	return err
}
