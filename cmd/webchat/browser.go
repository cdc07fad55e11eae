package main

import (
	"fmt"
	"html"
	"path/filepath"
	"runtime"

	"webchat/internal/proc"
)

// mayOpen reports whether somebody sits before a browser here.
func (o *options) mayOpen() bool {
	if o.noOpen || o.container {
		return false
	}
	has := func(name string) bool { v, ok := lookup(o.env, name); return ok && v != "" }
	if has("CI") || has("SSH_CONNECTION") {
		return false
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return true
	}
	return has("DISPLAY") || has("WAYLAND_DISPLAY")
}

// openBrowser opens the link through a file that only the user can read: a
// program's arguments can be read by everybody on the machine.
func openBrowser(dir, link string, env []string) error {
	name := redirectFile(dir)
	link = html.EscapeString(link)
	page := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><title>webchat</title>"+
		"<meta http-equiv=refresh content=\"0; url=%s\"><a href=\"%s\">Open webchat</a>\n", link, link)
	if err := writePrivate(name, []byte(page)); err != nil {
		return err
	}
	args := []string{"xdg-open", name}
	switch runtime.GOOS {
	case "darwin":
		args = []string{"open", name}
	case "windows":
		args = []string{"rundll32", "url.dll,FileProtocolHandler", name}
	}
	return proc.Detach(args, env)
}

func redirectFile(dir string) string { return filepath.Join(dir, "open.html") }

func removeRedirect(dir string) error { return remove(redirectFile(dir)) }
