package browser

import "testing"

// A line of progress goes where something ends. Where the browser lays the page out
// before the next frame, and more has come by then, a reader at the end is still there.
func TestFollowsWhatGrowsAfterItShrank(t *testing.T) {
	const (
		atEnd = `(() => { const s = document.getElementById('scroll'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 && document.getElementById('latest').hidden })()`
		op    = `(a, t, height) => new Promise((done) => apply([{ a, t, h: height && '<p id="' + height + '"><canvas height="' + height + '"></canvas></p>' }], done))`
	)
	p := start(t).open("/")
	p.sources()
	p.say("stream 400 words")
	p.done()
	p.wait(atEnd)
	p.js(`{
		window.frames2 = () => new Promise((done) => frame(() => frame(() => done(true))))
		window.frame = requestAnimationFrame.bind(window)
		window.op = ` + op + `
		import(document.querySelector('script[src*=theme]').src.replace('app/theme.js', 'js/queue.js')).then((queue) => { window.apply = queue.push })
	}`)
	p.wait(`window.apply`)
	p.wait(`op('add', 'turns', 200).then(frames2)`)
	p.wait(atEnd)
	p.js(`{
		const waiting = []
		window.requestAnimationFrame = (f) => waiting.push(f)
		window.release = () => { window.requestAnimationFrame = frame; for (const f of waiting) f() }
	}`)
	p.wait(`op('remove', '200').then(() => document.getElementById('scroll').scrollTop + 1).then(frames2)`)
	p.wait(`op('add', 'turns', 400).then(() => document.getElementById('scroll').scrollTop + 1).then(frames2)`)
	p.js(`release()`)
	p.wait(`frames2()`)
	p.wait(atEnd)

	// What goes by itself, as lines that a reader folds, moves the reader as well.
	p.wait(`(document.getElementById('400').style.display = 'none', frames2())`)
	p.wait(`op('add', 'turns', 100).then(frames2)`)
	p.wait(atEnd)

	p.js(`document.getElementById('scroll').scrollTop -= 100`)
	p.wait(`op('add', 'turns', 300).then(frames2)`)
	p.wait(`!document.getElementById('latest').hidden`)
}
