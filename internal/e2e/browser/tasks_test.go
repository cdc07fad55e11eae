package browser

import "testing"

// What runs in the background stands above the composer while other prompts are
// answered, and a button ends it.
func TestBackgroundTask(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("run sleep 600 in the background")
	p.wait(`document.querySelector('#dock-tasks:not([hidden]) [data-task]')`)
	p.has("#dock-tasks", "1 task in the background")
	p.has("#dock-tasks", "sleep 600")
	p.wait(`document.querySelector('[data-ask=permission][data-ready]')`)
	p.answer("[data-act=allow-once]")
	p.say("stream 5 words")
	p.wait(`document.querySelectorAll('#turns [data-turn][data-state=completed]').length === 2`)
	p.wait(`document.querySelector('#dock-tasks [data-age]').textContent !== ''`)
	p.shots("task")
	p.click("[data-act=stop-task]")
	p.wait(`document.querySelector('#dock-tasks').hidden`)
	p.has("#turns", "Stopped in the background: sleep 600")
}
