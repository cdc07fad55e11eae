package browser

import (
	"context"
	"fmt"
	"testing"

	"webchat/internal/agent"
)

// Where there is no room for all tabs, those that were not read for longest go to the
// shelf; what is in front and what is pinned stay, and all that is there can be seen.
func TestStripHoldsWhatFits(t *testing.T) {
	h := newHouse(t)
	var names []string
	for i := range 14 {
		names = append(names, fmt.Sprintf("a-long-name-%02d.txt", i))
		h.site.put(names[i], numbered(200))
	}
	h.backend.on("show one", showing(names[0]))
	read := make(chan struct{})
	h.backend.on("show all", func(ctx context.Context, host agent.Host) error {
		<-read
		return showing(names[1:]...)(ctx, host)
	})
	p := h.site.open("/sessions/" + h.session(t))
	p.look(1280, 900, "light")
	p.say("show one")
	p.front(names[0])
	p.press("Escape", "p")
	p.has(".tab.is-pinned", names[0])
	p.press("i")
	h.site.put("read.txt", numbered(50))
	p.say("/show read.txt")
	p.front("read.txt")
	p.say("show all")
	p.click(".tab.is-front [role=tab]") // it is read, since that was sent
	close(read)
	p.done()
	const seen = `[...document.querySelectorAll('.tab')].every((e) => { const r = e.getBoundingClientRect(); return r.width > 87 && r.right <= document.getElementById("tabs").getBoundingClientRect().right + 1 })`
	p.wait(`document.querySelector('#outs [data-name="a-long-name-13.txt"]') && ` + seen)
	p.front("read.txt")
	p.has(".tab.is-pinned", names[0])
	p.has(".tab.is-news", names[13])
	p.wait(seen) // of all of them: the last one came after the first look
	if n := eval[int](p, `document.querySelectorAll('.tab').length`); n < 5 || n > 9 {
		t.Errorf("%d tabs are left", n)
	}
	p.shot("desk-full-strip")
	p.click(".tab.is-news [role=tab]")
	p.look(1100, 900, "light") // what is in front is cut last
	p.wait(seen)
	p.wait(`(() => { const t = document.querySelector('.tab.is-front .t'); return t.innerText.startsWith('a-long-name') && t.scrollWidth <= t.clientWidth })()`)
	p.shot("desk-full-strip-1100")
	p.click(".shelf-btn")
	p.has("#shelf [data-group=closed]", "Closed")
	p.has("#shelf [data-output]", names[1])
}
