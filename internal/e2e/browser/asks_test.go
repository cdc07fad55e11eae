package browser

import "testing"

const question = `document.querySelector('[data-ask=permission]')`

// ready1 is true once the one question that is left can be clicked.
const ready1 = `document.querySelectorAll('[data-ask]').length === 1 && document.querySelector('[data-ask][data-ready]')`

// ripe is true once a key answers the question that has the focus.
const ripe = `document.activeElement.matches('[data-ask][data-ready][data-read]') && document.activeElement.dataset.keys !== undefined`

// THREATS 15: somebody who types or clicks when a question comes does not answer it.
func TestQuestionIsInertAtFirst(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("/show go.mod")
	p.done()
	// Somebody who types when a question comes must not answer it: an observer
	// presses the button, and strikes the key, the moment they are there.
	p.js(`window.early = 0; new MutationObserver(() => {
		const b = document.querySelector('[data-act=allow-once]')
		if (!b || window.early) return
		window.early = 1
		b.click()
		document.querySelector('[data-ask]').dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))
	}).observe(document.getElementById('dock'), { childList: true, subtree: true })`)
	p.say("run touch acted")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.wait(`window.early === 1`)
	if p.true(`document.activeElement !== document.getElementById('prompt')`) {
		t.Error("the question took the focus from someone typing")
	}
	p.wait(`document.title.startsWith('(1) ')`)
	p.wait(`document.getElementById('alert').textContent.includes('You asked to run a command')`)
	if p.true(`document.querySelector('[data-answered]')`) {
		t.Fatal("the question was answered before it could be read")
	}
	// By keys: k goes to it, d twice asks why.
	p.press("Escape", "k")
	p.wait(`document.activeElement.matches('[data-ask]')`)
	p.wait(ripe)
	p.js(`for (const _ of [1, 2]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'd', bubbles: true }))`)
	p.wait(`document.activeElement.name === 'reason'`)
	p.focus(question)
	p.wait(ripe)
	p.press("a")
	p.has("[data-answered]", "you allowed it once")
	p.wait(`document.activeElement === document.getElementById('prompt')`)
	p.done()
	p.wait(`!document.title.startsWith('(')`)
}

func TestQuestionAnsweredInAnotherTab(t *testing.T) {
	s := start(t)
	a := s.open("/")
	a.say("run echo once")
	a.wait(`document.querySelector('[data-ask][data-ready]')`)
	b := s.open("/sessions/" + a.session())
	b.wait(`document.querySelector('[data-ask][data-ready]')`)
	b.js(question + `.querySelector('[name=reason]').value = 'half a reason'`)
	a.answer("[data-act=allow-once]")
	for _, p := range []*page{a, b} {
		p.has("[data-answered]", "you allowed it once")
		p.wait(`!document.querySelector('[data-ask]')`)
	}
	// Who is late hears of it.
	b.expect("409", "410")
	a.done()
	a.say("run echo twice")
	b.wait(`document.querySelector('[data-ask][data-ready]')`)
	b.js(`const el = document.querySelector('[data-ask]').closest('li')
		const { request } = el.firstElementChild.dataset
		const { post, path } = await import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/api.js'))
		await post(path('/permissions/' + request), { decision: 'deny' })
		window.late = el.cloneNode(true)
		delete late.firstElementChild.dataset.ready`)
	b.wait(`!document.querySelector('[data-ask]')`)
	b.js(`document.getElementById('asks').append(late); document.getElementById('dock-asks').hidden = false`)
	b.wait(`late.querySelector('[data-ready][data-read]')`)
	b.click("[data-ask] [data-act=allow-once]")
	b.has(".toast[data-how=ask]", "Already answered: denied")
}

func TestQuestionTimesOut(t *testing.T) {
	s := start(t, "--permission-timeout", "1s")
	p := s.open("/")
	p.say("run echo late")
	p.has("[data-answered]", "no answer within 1 second")
	p.shot("too-late")
	p.done()
}

func TestAgentAsksItsUser(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("ask me which one? red | dark green")
	p.wait(`document.querySelector('[data-ask=input][data-ready]')`)
	p.has("[data-ask=input]", "which one")
	p.shots("question")
	p.click(`[data-choice="dark green"]`)
	p.has("[data-answered]", "You answered dark green")
	p.done()
	p.say("ask me which one? red | dark green")
	p.wait(`document.querySelector('[data-ask=input][data-ready]')`)
	p.click("[name=answer]")
	p.write("neither")
	p.press("Enter")
	p.has("[data-answered]", "You answered neither")
	p.done()
}
