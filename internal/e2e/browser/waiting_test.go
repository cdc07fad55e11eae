package browser

import "testing"

// What waits above the composer is edited, moved and taken back there, and is there after
// a stop and a reload: in order, with the edited text, until it is sent.
func TestWhatWaitsIsThereAfterAStopAndAReload(t *testing.T) {
	const rows = `[...document.querySelectorAll('#dock-queue .queued-text')].map((e) => e.textContent).join(' | ')`
	s := start(t)
	p := s.open("/")
	p.say("stream 2000 words slowly")
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	for _, text := range []string{"first", "second", "third"} {
		p.say(text)
		p.wait(rows + `.endsWith('` + text + `')`)
	}
	p.click("#dock-queue .queued:nth-child(2) [data-act=queue-edit]")
	p.wait(`document.activeElement.matches('#dock-queue textarea')`)
	p.write(" and dropped")
	p.press("Escape")
	p.wait(`!document.querySelector('#dock-queue textarea') && document.activeElement.id === 'prompt'`)
	p.click("#dock-queue .queued:nth-child(2) [data-act=queue-edit]")
	p.wait(`document.activeElement.matches('#dock-queue textarea')`)
	p.write(", edited")
	p.shot("queued-edit")
	p.click("#dock-queue .queued:nth-child(2) [data-act=queue-save]")
	p.wait(rows + ` === 'first | second, edited | third'`)
	p.click("#dock-queue .queued:nth-child(3) .queued-up")
	p.wait(rows + ` === 'first | third | second, edited'`)
	p.click("#dock-queue .queued:nth-child(1) [data-act=queue-remove]")
	p.wait(rows + ` === 'third | second, edited'`)
	p.press("Control+.")
	p.wait(`document.querySelector('#dock-queue').matches('[data-held]') && ` + composer + `.dataset.status === 'idle'`)
	p.js(`window.old = true; location.reload()`)
	p.wait(`!window.old && document.querySelector('#dock-queue[data-held]')`)
	p.live()
	p.is(rows, "third | second, edited")
	p.is(`String([...document.querySelectorAll('#turns .turn')].filter((e) => e.checkVisibility()).length)`, "1")
	p.click("#dock-queue .queued-now")
	p.wait(`document.querySelectorAll('[data-turn][data-state=completed]').length === 2 && document.querySelector('#dock-queue').hidden`)
	p.done()
}
