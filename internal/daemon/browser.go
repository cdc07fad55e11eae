package daemon

import (
	"fmt"
	"html"
	"path/filepath"
	"runtime"

	"webchat/internal/document"
	"webchat/internal/proc"
)

// OpenBrowser opens the link through a file that only the user can read: a
// program's arguments can be read by everybody on the machine. The file is in the
// data folder dir; env is the browser's.
func OpenBrowser(dir, link string, env []string) error {
	name := redirectFile(dir)
	link = html.EscapeString(link)
	page := fmt.Sprintf(
		"<!doctype html><meta charset=utf-8><meta name=referrer "+
			"content=no-referrer><title>webchat</title>"+
			"<meta http-equiv=refresh content=\"0; url=%s\"><a href=\"%s\">Open webchat</a>\n", link, link)
	if err := document.Write(name, []byte(page)); err != nil {
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

// RemoveRedirect removes the file of [OpenBrowser].
func RemoveRedirect(dir string) error { return remove(redirectFile(dir)) }
