package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const lastToast = `document.querySelector('#toasts .toast:last-child')?.textContent ?? ''`

func TestSlashCommands(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte(`
permissions:
  - {kind: shell, command: "echo <b>", decision: deny}
hooks:
  - {event: before_tool, matcher: run_and_display, command: "echo '<i>tests first</i>' >&2; exit 2"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, "--config", config)
	p := s.open("/")
	p.say("/permissions") // needs no session
	p.wait(`document.getElementById('consent').open`)
	p.has("#consent-permissions", "shell echo <b>")
	p.has("#consent-permissions", "You are asked before anything else")
	p.press("Escape")
	p.wait(`!document.getElementById('consent').open`)
	p.say("/hooks")
	p.wait(`document.getElementById('consent').open`)
	p.has("#consent-hooks", "before_tool of run_and_display echo '<i>tests first</i>'")
	p.press("Escape")
	p.wait(`!document.getElementById('consent').open`)
	p.is(prompt+`.value`, "")

	p.say("/mcp")
	p.wait(`document.getElementById('menu').textContent.includes('No MCP servers')`)
	p.press("Escape")
	p.js(prompt + `.select()`)

	p.say("/stpo")
	p.wait(`(` + lastToast + `).includes('/stpo is not a command. Did you mean /stop?')`)
	p.js(prompt + `.select()`)
	p.press("Enter") // what is refused twice is said once
	p.wait(`[...document.querySelectorAll('.toast')].filter((t) => t.textContent.includes('/stpo')).length === 1`)
	p.js(prompt + `.select()`)
	p.say("/permisions")
	p.wait(`(` + lastToast + `).includes('/permisions is not a command. Did you mean /permissions?')`)
	p.js(prompt + `.select()`)
	p.say("/export") // nothing to save yet
	p.wait(`(` + lastToast + `).includes('/export needs a session')`)

	// A second slash or a leading space sends the text as it is.
	p.js(prompt + `.select()`)
	p.say("//stop it")
	p.wait(`document.querySelector('.turn')?.textContent.includes('/stop it')`)
	p.done()
	p.say(" /title x")
	p.wait(`document.querySelectorAll('.turn').length === 2`)
	p.done()

	p.say("/title A better name")
	p.is(`document.getElementById('title').textContent.trim()`, "A better name")
	p.say("/export pdf")
	p.wait(`(` + lastToast + `).includes('/export saves as md, html or jsonl')`)
	p.js(prompt + `.select()`)

	// A page that is long in coming says how much has come, and can be stopped.
	dir := s.downloads(p)
	p.js(`{ const whole = window.fetch
		window.fetch = async (path, options) => {
			const reply = await whole(path, options)
			if (!String(path).includes('/export')) return reply
			window.saving = options.signal
			const slow = new TransformStream({ async transform(part, to) { to.enqueue(part); await new Promise((go) => { window.more = go }) } })
			return new Response(reply.body.pipeThrough(slow), { headers: reply.headers })
		} }`)
	p.say("/export html")
	p.wait(`/Saving the page: \d+ kB so far/.test(` + lastToast + `)`)
	p.js(`[...document.querySelectorAll('.toast button')].find((b) => b.textContent === 'Stop').click()`)
	p.wait(`window.saving.aborted && !document.querySelector('#toasts')?.textContent.includes('Saving')`)
	p.say("/export html")
	p.wait(`!window.saving.aborted && /Saving the page/.test(` + lastToast + `)`)
	p.js(`setInterval(() => window.more(), 1)`)
	poll(t, func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "A-better-name.html"))
		return err == nil && strings.HasSuffix(strings.TrimSpace(string(b)), "</html>")
	})
	p.wait(`!document.querySelector('#toasts')?.textContent.includes('Saving')`)

	// A hook's veto is shown with its reason, which is text.
	p.say("run touch vetoed")
	p.done()
	p.wait(`[...document.querySelectorAll('.why')].some((e) => e.textContent.includes('<i>tests first</i>'))`)
	if p.true(`document.querySelector('#turns i')`) {
		t.Error("the reason of a hook became markup")
	}
	if _, err := os.Stat(filepath.Join(s.workspace, "vetoed")); err == nil {
		t.Error("a vetoed command ran")
	}
	p.say("/help")
	p.wait(`document.getElementById('keys').open`)
}

// What was allowed for the session is listed, and taken back by one click.
func TestTakeBack(t *testing.T) {
	s := start(t)
	p := s.open("/")
	p.say("run echo one")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.click("[data-act=ways]")
	p.wait(`document.querySelector('[data-act=grant]').ariaDisabled === 'false'`)
	p.answer("[data-act=grant]")
	p.done()
	p.say("/permissions")
	p.has("#consent-grants", "this command, exactly: echo one given ")
	p.has("#consent-permissions", "built in")
	p.click("[data-take-back]")
	p.has("#consent-grants", "Nothing.")
	p.press("Escape")
	p.say("run echo one") // it is asked again
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
}
