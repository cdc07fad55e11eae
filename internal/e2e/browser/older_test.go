package browser

import (
	"fmt"
	"testing"
)

// A page that is open all day holds as many turns as one opened now. What it gave back
// comes again, each turn once, and who reads further up loses nothing.
func TestOlderTurnsAreGivenBack(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("ask nothing 0")
	p.done()
	id := p.session()
	say := func(from, to int) {
		for i := from; i <= to; i++ {
			s.api("POST", "/api/sessions/"+id+"/messages?wait=true", map[string]string{"content": fmt.Sprint("ask nothing ", i)})
		}
		p.wait(fmt.Sprintf(`document.querySelector('#turns > .turn:last-child h2')?.textContent === 'ask nothing %d'`, to))
	}
	say(1, 85)
	p.wait(`document.querySelectorAll('#turns > .turn').length <= 80`)
	kept := eval[float64](p, `document.querySelectorAll('#turns > .turn').length`)
	if kept < 40 {
		t.Errorf("%v turns are left", kept)
	}
	p.wait(`(() => { const s = document.getElementById('scroll'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)

	p.js(`document.getElementById('scroll').scrollTop = 0`) // brings what is older
	p.wait(`document.querySelector('#turns > .turn h2').textContent === 'ask nothing 0' || (document.getElementById('scroll').scrollTop = 0)`)
	inOrder := func() {
		t.Helper()
		for i, got := range eval[[]string](p, `[...document.querySelectorAll('#turns > .turn h2')].map((h) => h.textContent)`) {
			if got != fmt.Sprint("ask nothing ", i) {
				t.Fatalf("turn %d is %q", i, got)
			}
		}
	}
	inOrder()
	p.js(`document.getElementById('scroll').scrollTop = 300`)
	say(86, 88)
	if got := eval[float64](p, `document.querySelectorAll('#turns > .turn').length`); got != 89 {
		t.Errorf("%v turns, all 89 were being read", got)
	}
	p.wait(`document.getElementById('earlier').hidden`) // there are none

	first := eval[string](p, `document.querySelector('#turns > .turn').id`)
	p.click("#latest")
	say(89, 89)
	p.wait(`!document.getElementById(` + quote(first) + `)`)
	p.js(`{
		const real = fetch
		window.loads = 0
		window.fetch = async (address, options) => {
			const reply = await real(address, options)
			if (String(address).includes('before=') && ++loads === 2) await new Promise((done) => { window.go = done })
			return reply
		}
		location.hash = ` + quote(first) + `
	}`)
	p.wait(`window.go`)
	say(90, 92) // others end while its turns come
	p.js(`await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))`)
	p.js(`go()`)
	p.wait(`(() => { const el = document.getElementById(` + quote(first) + `); return el && Math.abs(el.getBoundingClientRect().top - document.getElementById('scroll').getBoundingClientRect().top) < 100 })()`)
	inOrder()
	if n := eval[float64](p, `loads`); n != 2 {
		t.Errorf("the turns before the last 40 were loaded in %v pieces", n)
	}
}
