package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/adrg/xdg"

	"webchat/internal/daemon"
)

// stopServer ends the running server and waits for that.
func stopServer(ctx context.Context, o *options, stdout, _ io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	info, err := daemon.Client{Dir: dir, Token: g.Token()}.Stop(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s has stopped\n", info.Name())
	return err
}

// server is the command of a server with the flags that were given and those folders, which
// opens no browser.
func (o *options) server(folders []string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	line := []string{self, "serve", "--no-open"}
	for _, folder := range folders {
		line = append(line, "--workspace="+folder)
	}
	for _, f := range o.given {
		if f.name != "workspace" && f.name != "no-open" {
			line = append(line, "--"+f.name+"="+f.value)
		}
	}
	return line, nil
}

// service is the server with the flags that were given and those folders, as a service.
func (o *options) service(folders []string, stdout io.Writer) (*daemon.Service, error) {
	program, err := o.server(folders)
	if err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	c := daemon.ServiceConfig{
		System:     runtime.GOOS,
		Home:       home,
		ConfigHome: xdg.ConfigHome,
		Program:    program,
		Env:        o.env,
		Out:        stdout,
	}
	// by which agents and our files are found
	for _, name := range []string{"PATH", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		if value, ok := lookup(o.env, name); ok && value != "" {
			c.Set = append(c.Set, name+"="+value)
		}
	}
	return daemon.NewService(c), nil
}

func installService(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	if err := o.checkReplica(true); err != nil {
		return err
	}
	what, err := opener{o, stdout, stderr}.opening()
	if err != nil {
		return err
	}
	s, err := o.service(what.Folders, stdout)
	if err != nil {
		return err
	}
	info, none := o.running()
	s.Now = none != nil
	if err := s.Install(ctx); err != nil {
		return err
	}
	if _, ok := lookup(o.env, "WEBCHAT_PROVIDER_KEY"); ok {
		fmt.Fprintln(stdout,
			"The service does not know WEBCHAT_PROVIDER_KEY: put the key into a file and install again "+
				"with --provider-key-file.")
	}
	if none == nil {
		fmt.Fprintf(stdout,
			"webchat with pid %d runs already: the service starts with your next login.\n", info.PID)
	}
	return nil
}

func removeService(ctx context.Context, o *options, stdout, _ io.Writer) error {
	s, err := o.service(nil, stdout)
	if err != nil {
		return err
	}
	return s.Remove(ctx)
}

func serviceStatus(ctx context.Context, o *options, stdout, _ io.Writer) error {
	s, err := o.service(nil, stdout)
	if err != nil {
		return err
	}
	if err := s.Status(ctx); err != nil {
		return err
	}
	text := "no"
	if info, none := o.running(); none == nil {
		text = fmt.Sprintf("%s, pid %d", info.URL, info.PID)
	}
	_, err = fmt.Fprintf(stdout, "running    %s\n", text)
	return err
}

// running finds the server of the data folder, which need not exist.
func (o *options) running() (daemon.Info, error) {
	info, err := daemon.Read(o.dataPath())
	if err == nil && info.URL == "" {
		err = errors.New("it starts")
	}
	return info, err
}
