package browser

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever windows and sessions are open, one connection of a browser waits for news: with a file
// on each Desk, too, whose changes come on it.
func TestOneConnectionServesABrowser(t *testing.T) {
	h := newHouse(t)
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(h.site.workspace, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a.txt", "b.txt", "c.txt"}
	var tabs []*page
	for _, name := range names {
		put(name, "one\n")
		p := h.site.open("/sessions/" + h.session(t))
		p.look(1440, 900, "light")
		p.say("/show " + name)
		p.done()
		p.front(name)
		tabs = append(tabs, p)
	}
	tabs = append(tabs, h.site.open("/sessions/"+tabs[0].session())) // one session twice
	poll(t, func() bool { return h.atWork() == 1 })
	for i, name := range names {
		put(name, "two lines\n")
		tabs[i].has(".pane:not([hidden]) .on-disk:not([hidden])", "Changed on disk")
	}
	tabs[3].say("hello")
	for _, p := range []*page{tabs[0], tabs[3]} {
		p.has("#turns", "hello")
	}
	if n := h.atWork(); n > 6 {
		t.Errorf("%d connections are at work", n)
	}
	poll(t, func() bool { return h.atWork() == 1 })
}
