package browser

import (
	"strings"
	"testing"
)

// A Mermaid diagram in a Markdown file is drawn when its button is pressed, in a frame of an opaque
// origin, which runs and asks for nothing that the diagram names. One that cannot be drawn, or does
// not end, is its source with a sentence.
func TestMermaid(t *testing.T) {
	s, p := desked(t)
	away, came := outside(t)
	const flow = "```mermaid\nflowchart LR\n  A[Read the file] --> B{Is it text?}\n  B -->|yes| C[Show lines]\n  B -->|no| D[Show bytes]\n```\n"
	s.put("flow.md", "# How it is shown\n\n"+flow+"\nWords.\n\n```mermaid\nsequenceDiagram\n  Page->>Server: What is new?\n  Server-->>Page: Three events\n```\n\nMore words.\n\n"+strings.Repeat(flow, 4))
	p.js(`const later = setTimeout // how long a frame may draw is for the test to say
		window.patience = 180_000
		window.setTimeout = (f, ms, ...a) => later(f, ms === 10_000 ? patience : ms, ...a)`)
	p.see("flow.md")
	p.front("flow.md")
	draw := func(n string) {
		p.wait(`(() => { const b = ` + onDesk + `.querySelectorAll('.block')[` + n + `]?.querySelector('[data-diagram]'); b?.click(); return b !== undefined && b !== null })()`)
	}
	p.wait(onDesk + `.querySelectorAll('[data-diagram]').length === 6 && !document.querySelector('iframe')`)
	p.shot("desk-mermaid-source")
	draw("1")
	p.wait(onDesk + `.querySelector('.block > iframe.diagram[sandbox="allow-scripts"] + details.fold') && document.activeElement.matches('.fold > summary')`)
	draw("3")
	p.wait(`[...` + onDesk + `.querySelectorAll('.diagram')].filter((f) => f.offsetHeight > 60).length === 2`)
	p.is(onDesk+`.querySelector('.fold pre').textContent.startsWith('flowchart LR') + ' ' + `+onDesk+`.querySelector('.diagram').contentDocument`, "true null")
	p.shot("desk-mermaid")
	p.accessible("a Markdown file with diagrams")
	p.look(1440, 900, "dark")
	draw("5")
	p.wait(`[...` + onDesk + `.querySelectorAll('.diagram')].filter((f) => f.offsetHeight > 60).length === 3`)
	p.shot("desk-mermaid-dark")
	p.look(1440, 900, "light")
	p.js(onDesk + `.querySelectorAll('[data-diagram]').forEach((b) => b.click())`)
	p.wait(onDesk + `.querySelectorAll('.diagram').length === 4 && ` + onDesk + `.querySelectorAll('[data-diagram]').length === 2`)

	p.expect("Content Security Policy", "sandbox", "Blocked", "Refused", "ERR_BLOCKED",
		"attribute transform: Expected number") // as far as the last one may be drawn in its time
	s.put("hostile.md", "```mermaid\n%%{init: {\"securityLevel\": \"loose\", \"flowchart\": {\"htmlLabels\": true}, \"themeCSS\": \"@import '"+away+"/css'; .node{background:url("+away+"/bg)}\"}}%%\nflowchart TD\n"+
		"  A[\"<img src='"+away+"/i' onerror='top.bad=1'>\"] --> B[\"<a href='javascript:top.bad=2'>Go</a><script>top.bad=3</script><iframe src='"+away+"/f'></iframe>\"]\n"+
		"  click A href \"javascript:parent.bad=4\"\n  click B href \""+away+"/link\" _top\n```\n\n"+
		"```mermaid\nflowchart TD\n  A --> \n  ]]\n```\n\n```mermaid\nflowchart TD\n"+strings.Repeat("  A --> B\n", 2500)+"```\n\n```mermaid\nblock-beta\n  space:200000000\n```\n")
	p.see("hostile.md")
	p.front("hostile.md")
	p.wait(onDesk + `.querySelectorAll('[data-diagram]').length === 4`)
	draw("0")
	p.wait(onDesk + `.querySelector('.diagram').offsetHeight > 60`)
	draw("1")
	p.wait(onDesk + `.querySelectorAll('.frame-said + pre').length === 1`)
	draw("2")
	p.wait(onDesk + `.querySelectorAll('.frame-said + pre').length === 2`)
	p.js(`patience = 1000`) // it would not end
	draw("3")
	p.wait(onDesk + `.querySelectorAll('.frame-said + pre').length === 3`)
	p.shot("desk-mermaid-hostile")
	p.is(onDesk+`.querySelector('.frame-said').textContent`, "This diagram could not be drawn: its source is shown.")
	if got := eval[string](p, `fetch('/healthz').then(() => [window.bad, location.pathname.startsWith('/sessions/'), `+onDesk+`.querySelectorAll('iframe').length].join())`); got != ",true,1" {
		t.Errorf("what the frame did is %s", got)
	}
	if n := came.Load(); n > 0 {
		t.Errorf("%d connections left", n)
	}

	p.js(`addEventListener('message', (e) => e.stopImmediatePropagation(), true)
		patience = 10`) // nothing a frame says arrives
	s.put("silent.md", flow)
	p.see("silent.md")
	p.front("silent.md")
	draw("0")
	p.has(".pane:not([hidden]) .block", "This diagram could not be drawn: its source is shown. flowchart LR")
	p.is(onDesk+`.querySelectorAll('iframe').length + ' ' + document.activeElement.tagName`, "0 PRE")
}
