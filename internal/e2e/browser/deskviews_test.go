package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// put writes a file into the workspace.
func (s *site) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.workspace, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// A table sorts by its columns, and what is typed above it leaves rows out, which are
// then what can be handed over.
func TestDeskSortsAndFiltersTables(t *testing.T) {
	s, p := desked(t)
	var b strings.Builder
	b.WriteString("id,region,frames\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%s,%d\n", 1000+i, []string{"eu-west", "us-east", "eu-north", "ap-south"}[i%4], (i*37)%101*100)
	}
	s.put("sinks.csv", b.String())
	p.say("/show sinks.csv")
	p.front("sinks.csv")
	const first = onDesk + `.querySelector('.records tbody td:nth-child(4)').textContent`
	p.click(`.pane:not([hidden]) .records th[data-col="3"] button`)
	p.wait(first + ` === '10,000'`)
	p.wait(onDesk + `.querySelector('.records tbody td:nth-child(2)').textContent.length === 4`) // it names the row
	p.has(".pane:not([hidden]) .dfoot", "By frames, largest first")
	p.click(`.pane:not([hidden]) .records th[data-col="3"] button`)
	p.wait(first + ` === '0'`)
	p.js(onDesk + `.querySelector('.vbar input').focus()`)
	p.write("region starts with eu")
	p.press("Enter")
	p.has(".pane:not([hidden]) .vbar", "20 of 40 rows × 3 columns")
	p.has(".pane:not([hidden]) .dfoot .give", "Let the agent read 20 rows +")
	p.wait(`[...` + onDesk + `.querySelectorAll('.records tbody td:nth-child(3)')].every((td) => td.textContent.startsWith('eu'))`)
	p.shot("desk-table-filtered")
	p.accessible("a filtered table on the Desk")
	p.click(".pane:not([hidden]) .vbar .chip button")
	p.has(".pane:not([hidden]) .vbar", "40 rows")
	p.has(".pane:not([hidden]) .dfoot .give", "Let the agent read the file")
}

// A table larger than its limit is lines, which say so and can be found in.
func TestDeskShowsALargeTableAsLines(t *testing.T) {
	s, p := desked(t)
	s.put("sinks.csv", "id,region,frames\n"+strings.Repeat("17,eu-west,4\n", 1_400_000))
	p.say("/show sinks.csv")
	p.front("sinks.csv")
	p.has(".pane:not([hidden]) .vbar", "CSV is shown as a table up to 16 MiB: this has 18 MB, so it is shown as lines.")
	p.is(onDesk+`.querySelectorAll('[data-view]').length + ' views'`, "0 views")
	p.has(".pane:not([hidden]) .rows", "17,eu-west,4")
	p.accessible("a large table on the Desk")
}

// The value that is chosen in a tree has its path and its line above, and what is
// around it can be handed over.
func TestDeskTreeNamesWhatIsChosen(t *testing.T) {
	s, p := desked(t)
	s.put("relay.json", "{\n  \"name\": \"relay\",\n  \"pump\": {\n    \"patience\": \"1s\",\n    \"sinks\": [\n      1,\n      2\n    ]\n  }\n}\n")
	p.say("/show relay.json")
	p.front("relay.json")
	p.wait(onDesk + `.querySelectorAll('.other li li li li').length === 2`) // what fits is open
	p.press("Escape")                                                       // letters are keys in the view, not on the first button above it
	p.wait(`document.activeElement.matches('.pane .other')`)
	p.is(onDesk+`.querySelectorAll('.other li')[2].getBoundingClientRect().top - `+onDesk+`.querySelectorAll('.other li')[1].getBoundingClientRect().top + ' px'`, "24 px")
	p.js(onDesk + `.querySelector('.other li').focus()`)
	p.press("ArrowDown", "ArrowDown", "ArrowLeft")
	p.wait(onDesk + `.querySelector('.other li li[aria-expanded=false] .many').textContent === '2 keys'`)
	p.press("ArrowRight")
	p.has(".pane:not([hidden]) .other li li li", "patience")
	p.press("ArrowDown")
	p.is(onDesk+`.querySelector('.vbar output').textContent`, "$.pump.patience")
	p.is(onDesk+`.querySelector('.vbar output span').textContent`, "$.pump") // paler than what is chosen
	p.has(".pane:not([hidden]) .vbar", "line 4 of the file")
	p.has(".pane:not([hidden]) .dfoot .give", "Let the agent read pump +")
	p.shot("desk-tree-chosen")
	p.accessible("a chosen value in a tree")
	p.press("End")
	p.is(onDesk+`.querySelector('.vbar output').textContent`, "$.pump.sinks[1]")
	p.press("Home")
	p.is(onDesk+`.querySelector('.vbar output').textContent`, "$")

	// The indent of the values is not that of a list in a preview.
	p.say("/show README.md")
	p.front("README.md")
	p.wait(`((li) => li.getBoundingClientRect().left - li.parentElement.getBoundingClientRect().left + parseFloat(getComputedStyle(li).paddingLeft) < 40)(` + onDesk + `.querySelector('.other li'))`)
	p.has(".pane:not([hidden])", "Markdown · 6 lines")
	// Without the Desk the conversation is a column in the middle.
	p.press("Escape", "]")
	p.wait(`document.querySelector('.app.no-desk')`)
	p.wait(`((a, b) => Math.abs(a.left + a.right - b.left - b.right) < 20)(document.getElementById('composer').getBoundingClientRect(), document.querySelector('.main').getBoundingClientRect())`)
}

// Only the lines that match stand there, with their own numbers, and the hit that was
// looked at stays on the screen.
func TestDeskShowsOnlyLinesThatMatch(t *testing.T) {
	_, p := desked(t)
	p.say("/show big.log")
	p.front("big.log")
	p.press("Escape", "f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("queue=0 ")
	p.has(".pane .find", "1 of 7,692")
	p.press("Shift+Enter", "Shift+Enter", "Shift+Enter")
	p.has(".pane .find", "7,690 of 7,692")
	p.press("Alt+Enter")
	p.wait(onDesk + `.querySelector('.code.only') && [...document.querySelectorAll('.rows > .line')].length > 20 && [...document.querySelectorAll('.rows > .line')].every((l) => l.textContent.includes('queue=0 '))`)
	const onScreen = `((e) => e && e.getBoundingClientRect().bottom < innerHeight - 36 && e.getBoundingClientRect().top > 100)(document.querySelector('.rows .ln[href="#L99970"]'))`
	p.wait(onScreen)
	p.shot("desk-only")
	p.accessible("only the lines that match")
	p.has(".pane:not([hidden]) .dfoot .give", "lines in view")
	p.is(onDesk+`.querySelector('.line.is-hit .ln').textContent`, "99,970")
	const said = `((a, b) => a && b && Number(b[2].replace(',', '')) - Number(b[1].replace(',', '')) + 1 === Number(a[1]))(/ (\d+) lines in view/.exec(` + onDesk + `.querySelector('.give').textContent), /Matches ([\d,]+)–([\d,]+) of/.exec(` + onDesk + `.querySelector('.dfoot [data-at]').textContent))`
	p.wait(said) // what the button hands over is what the foot says is there
	p.press("Alt+Enter")
	p.wait(`!document.querySelector('.code.only') && document.querySelector('.rows .ln[href="#L99969"]')`)
	p.wait(onScreen)
	p.told("show me go.mod") // what was found before it was sent keeps nothing back
	p.front("go.mod")
}

// Two of three versions are compared, first the last two that differ.
func TestDeskComparesVersions(t *testing.T) {
	s, p := desked(t)
	lines := strings.Split(strings.TrimSuffix(strings.Repeat("the same line\n", 60), "\n"), "\n")
	p.say("/show go.mod")
	p.front("go.mod")
	p.js(`const asked = window.fetch; window.drawn = 0; window.fetch = (...a) => { drawn += String(a[0].url ?? a[0]).includes('/desk/'); return asked(...a) }`)
	for i := range 3 {
		lines[30] = fmt.Sprintf("version %d", i)
		if i == 2 {
			lines[50] = "changed last"
		}
		s.put("notes.txt", strings.Join(lines, "\n")+"\n")
		p.say("/show notes.txt")
		p.front("notes.txt")
		p.wait(onDesk + `.querySelectorAll('.rows .cl').length && document.querySelectorAll('#outs [data-output]').length === ` + quoteInt(i+2))
		p.wait(`[...document.querySelectorAll('.rows .cl')].some((e) => e.textContent.trim() === 'version ` + quoteInt(i) + `')`)
		p.is(`String(drawn)`, quoteInt(i+1)) // a pane that is drawn twice forgets what was pressed in it meanwhile
	}
	p.click(".pane:not([hidden]) [data-view=diff]")
	p.wait(onDesk + `.querySelectorAll('[data-change]').length === 2`)
	p.is(`[...document.querySelectorAll('.stops .stop')].map((e) => e.ariaPressed).join()`, "false,true,true")
	p.has(".pane:not([hidden]) .vbar", "+2 −2")
	p.has(".pane:not([hidden]) .dfoot .give", "Let the agent read the 2 changes +")
	p.shot("desk-changes")
	p.accessible("changes on the Desk")
	p.click(".pane:not([hidden]) .stops .stop")
	p.wait(`document.querySelector('.other .del .cl')?.textContent.trim() === 'version 0'`)
	p.click(".pane:not([hidden]) .foldline")
	p.wait(`[...document.querySelectorAll('.other .line')].filter((l) => l.firstElementChild.textContent === '1').length === 1`)
	p.look(2200, 900, "light")
	p.wait(onDesk + `.clientWidth > 1280`)
	const at = onDesk + `.querySelectorAll('[data-change]').entries().find(([, e]) => e.matches('.is-now'))?.[0]`
	p.press("Escape", "j") // the focus is there already, by a click
	p.wait(at + ` === 0`)
	p.press("j")
	p.wait(at + ` === 1`)
	p.press("k")
	p.wait(at + ` === 0`)
	p.press("u")
	p.wait(`[...document.querySelectorAll('.sides .pair')].some((e) => e.innerText.includes('version 0') && e.innerText.includes('version 2'))`)
	p.shot("desk-sides")
}

// What failed first stands above a command that still runs; what names a file leads there.
func TestDeskTellsOfAFailureWhileItRuns(t *testing.T) {
	s, p := desked(t)
	s.put("slow.sh", "echo '=== RUN   TestPump'\necho '--- FAIL: TestPump (0.01s)'\necho '    internal/pump/pump.go:12: sink 2 still attached'\necho '=== RUN   TestRing'\necho '--- PASS: TestRing (0.03s)'\necho 'ok  	example.com/relay/internal/ring	0.035s'\nwhile [ ! -e over ]; do sleep 0.1; done\nexit 1\n")
	p.say("!sh slow.sh")
	p.has(".pane[data-state=running] .failure", "sink 2 still attached")
	p.shot("desk-running-failure")
	p.dark("desk-running-failure")
	p.wait(`document.querySelector('.pane[data-state=running] .rows a.at-src')`)
	s.put("over", "")
	p.has(".pane[data-state=done] .failure", "sink 2 still attached")
	p.has(".pane[data-state=done] .failure", "Ask about it +")
	p.wait(onDesk + `.querySelector('.map .er')`)
	p.is(onDesk+`.querySelector('.dhead [data-act=again]').title`, "Run again (r)")
	// What failed has the width of its pane, also of half a Desk: its buttons stand beside the head alone.
	p.is(`((f, r) => String(f.querySelector('.mono').getBoundingClientRect().right > f.querySelector('.do').getBoundingClientRect().left))(`+onDesk+`.querySelector('.failure'))`, "true")
	p.click(".pane[data-state=done] [data-act=ask-failure]")
	p.has("#chips .chip", "sh slow.sh:2–3")
}

// Of an output larger than its limit the beginning and the end are there with their true
// numbers, what lies between is one row, and find says that it looked in what was kept.
func TestDeskShowsWhatWasLeftOutAsOneRow(t *testing.T) {
	s, p := desked(t)
	s.put("flood.sh", "yes $(printf '%0200d' 7) | head -900000\necho 'the last line'\n")
	p.say("!sh flood.sh")
	p.wait(`document.querySelector('.pane[data-state=done]')`)
	p.press("Escape", "End")
	p.wait(`[...document.querySelectorAll('.rows .line')].some((l) => l.textContent.includes('the last line') && l.firstElementChild.textContent === '900,001' && l.getBoundingClientRect().bottom < innerHeight)`)
	p.press("f")
	p.wait(`document.querySelector('.pane .find input') === document.activeElement`)
	p.write("line")
	p.has(".pane .find", "1 of 1 in the lines that were kept")
	p.press("Escape")
	gap := eval[string](p, `(async () => (await fetch('/api/outputs/' + document.querySelector('.pane').dataset.output + '?format=html&view=terminal&from=1&rows=1')).headers.get('Webchat-Gap'))()`)
	var after, next int
	if _, err := fmt.Sscanf(gap, "%d-%d", &after, &next); err != nil || next-after < 1000 {
		t.Fatalf("the gap is %q", gap)
	}
	p.js(`document.querySelector('.code').focus()`)
	p.press("g")
	p.write(quoteInt(after))
	p.press("Enter")
	p.wait(`((rows) => rows.some((r, i) => r.textContent.replaceAll(',', '').startsWith('` + quoteInt(after) + `') && rows[i + 1]?.matches('.gap') && rows[i + 1].textContent.includes('left out') && rows[i + 2]?.textContent.replaceAll(',', '').startsWith('` + quoteInt(next) + `')))([...document.querySelectorAll('.rows > .line')])`)
	p.shot("desk-gap")
}
