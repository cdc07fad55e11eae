package page

import (
	"net/netip"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Host reports whether it is about a host that something confined waits for.
func (a *Ask) Host() bool { return a.Kind == event.KindHost }

// Odd says what is unusual about a host's name; empty if nothing is.
func (a *Ask) Odd() string {
	name, _, _ := strings.Cut(a.Resource, ":")
	if strings.HasPrefix(a.Resource, "[") {
		name, _, _ = strings.Cut(a.Resource[1:], "]")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "an address without a name"
	}
	for label := range strings.SplitSeq(strings.ToLower(name), ".") {
		if strings.HasPrefix(label, "xn--") {
			return "letters of other alphabets"
		}
	}
	return ""
}

// program matches a first word that is the name or path of a program.
var program = regexp.MustCompile(`^[\w.+/-]+$`)

// wants is who waits for the host: the program that the call runs, if that is plain.
func (a *Ask) wants() string {
	if a.About != nil {
		command, _ := a.About.arguments()["command"].(string)
		if words := strings.Fields(command); len(words) > 0 && program.MatchString(words[0]) {
			return path.Base(words[0])
		}
	}
	return "A command"
}

// Folder is the name of the folder whose sessions share what is opened.
func (g together) Folder() string { return path.Base(filepath.ToSlash(g.First().In.Cwd)) }

// wantsHosts is the head of such questions.
func (g together) wantsHosts() string {
	if len(g.Asks) == 1 {
		return g.First().Head() + " " + wording.Plain(g.First().Resource)
	}
	return g.First().Head() + " " + wording.Plural(len(g.Asks), "host")
}
