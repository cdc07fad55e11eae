package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

const axeVersion = "4.14.1"

// axe returns the source of axe-core, which npm fetches once into a folder that
// is not committed; "" where there is no npm.
var axe = sync.OnceValues(func() (string, error) {
	dir := filepath.Join("..", "..", "..", ".cache", "axe-"+axeVersion)
	source := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if b, err := os.ReadFile(source); err == nil {
		return string(b), nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command(npm, "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund",
		"--silent", "axe-core@"+axeVersion)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm install axe-core: %w\n%s", err, out)
	}
	b, err := os.ReadFile(source)
	return string(b), err
})

// What axe-core looks at: all, or what a width or a scheme of colours may break.
const (
	allRules = `{}`
	inWidth  = `{ rules: { 'color-contrast': { enabled: false } } }`
	inScheme = `{ runOnly: ['color-contrast'] }`

	// What is about all of a page: its language, title, headings and landmarks.
	inOutline = `{ runOnly: [
		'bypass', 'document-title', 'html-has-lang', 'meta-viewport', 'heading-order', 'page-has-heading-one', 'region', 'skip-link',
		'landmark-banner-is-top-level', 'landmark-complementary-is-top-level', 'landmark-contentinfo-is-top-level', 'landmark-main-is-top-level',
		'landmark-no-duplicate-banner', 'landmark-no-duplicate-contentinfo', 'landmark-no-duplicate-main', 'landmark-one-main', 'landmark-unique'] }`
)

// accessible fails the test with each rule that the page, as it stands, breaks.
func (p *page) accessible(state string) {
	p.t.Helper()
	p.follows(allRules, state)
}

// follows is accessible for some of the rules. What was looked at in another test or state is not
// looked at again: all but the contrast of an element with the same attributes and contents below
// one with the same, and rules about headings and landmarks, which are about the whole page, once
// for each two that follow each other. Contrast is computed here, in a hundredth of axe-core's
// time, after axe-core has seen a page in the same colours.
func (p *page) follows(rules, state string) {
	p.t.Helper()
	source, err := axe()
	if err != nil {
		if os.Getenv("CI") != "" {
			p.t.Fatalf("axe-core: %v", err)
		}
		p.t.Logf("not checked by axe-core: %v", err)
		return
	}
	// What fades in has its contrast once it is there.
	p.wait(`document.getAnimations().every((a) => a.effect.getComputedTiming().endTime === Infinity)`)
	found := eval[kinds](p, `(`+kindsJS+`)(`+strconv.FormatBool(rules != inScheme)+`, `+
		strconv.FormatBool(rules != inWidth)+`)`)
	for _, pale := range found.Pale {
		p.t.Errorf("%s: color-contrast: %s", state, pale)
	}
	shapes := notYet("shape ", found.Shapes)
	outline := rules == allRules && len(notYet("outline ", found.Outline)) > 0
	colours := rules != inWidth && len(notYet("colours ", []string{found.Colours})) > 0
	if len(shapes) == 0 && !outline && !colours {
		return
	}
	if !p.true(`window.axe`) {
		ctx, stop := context.WithTimeout(p.ctx, limit)
		defer stop()
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](source+`; true`)); err != nil {
			p.t.Fatalf("load axe-core: %v", err)
		}
	}
	look := func(context, rules string) {
		p.t.Helper()
		for _, b := range eval[[]string](p, `axe.run(`+context+
			`, { iframes: false, resultTypes: ['violations'], ...`+rules+
			` }).then((r) => r.violations.map((v) =>
			v.id + ' (' + v.help + '): ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.any.map((a) => a.message).join('; ')).join(' | ')))`) {
			p.t.Errorf("%s: %s", state, strings.ReplaceAll(b, "\n", " "))
		}
	}
	if outline {
		look(`document`, inOutline)
	}
	if colours {
		look(`document`, inScheme)
	}
	if len(shapes) > 0 {
		list, err := json.Marshal(shapes)
		if err != nil {
			p.t.Fatal(err)
		}
		look(`window.kinds(`+string(list)+`)`, inWidth)
	}
}

// kinds are what is seen of a page, each once.
type kinds struct {
	// hashes of what rules read of an element and of the one around it, and whether it is small or
	// scrolls
	Shapes  []string
	Outline []string // headings and landmarks, two by two
	Colours string   // of the scheme
	Pale    []string // text of too little contrast, and its ratio
}

// kindsJS makes [kinds], and leaves a function that has axe-core look at one element of each shape.
const kindsJS = `(shaped, painted) => {
	const shapes = new Map(), paints = new Set(), behind = new Map(), pale = []
	const hash = (...parts) => {
		let a = 5, b = 7
		for (const s of parts.join()) { const c = s.codePointAt(0); a = Math.imul(a ^ c, 16777619); b = Math.imul(b ^ c, 2654435761) }
		return (a >>> 0).toString(36) + (b >>> 0).toString(36)
	}
	const own = (el) => el.localName + ' ' + [...el.attributes].map(({ name, value }) => {
		if (/^aria-(describedby|labelledby|controls|owns|activedescendant)$/.test(name)) return name + value.split(' ').every((id) => document.getElementById(id))
		if (/^aria-(label|value.*|pos.*|set.*)$/.test(name)) return name + (value.trim() === '')
		if (/^(role|type|disabled|hidden|tabindex|lang|aria-.*)$/.test(name)) return name + '=' + value.replace(/\d+/g, '0')
		return /^(id|href|alt|title|for|name|style|accesskey|contenteditable|controls)$/.test(name) ? name : ''
	}).sort().join(' ')
	const rules = 'a, area, audio, button, canvas, dd, details, dialog, dl, dt, embed, fieldset, form, iframe, img, input, label, legend, li, meter, object, ol, option, output, progress, select, summary, svg, table, td, textarea, th, ul, video, [role], [tabindex], [id], [lang], [style], [accesskey], [contenteditable]'
	const within = (el) => [...new Set([...el.children].map((child) => child.localName + (child.role ?? '')))].sort().join(' ')
	const pen = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
	const over = (colour, base) => {
		pen.fillStyle = 'rgb(' + base.join() + ')'
		pen.fillRect(0, 0, 1, 1)
		pen.fillStyle = colour
		pen.fillRect(0, 0, 1, 1)
		return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)
	}
	const mix = (base, colour, part) => base.map((c, i) => c + (colour[i] - c) * part)
	const ground = (el) => { // what is behind its text, and how much of that shines through
		if (!el) return { base: [255, 255, 255], groups: [], image: false }
		if (!behind.has(el)) {
			const { backgroundColor, backgroundImage, opacity } = getComputedStyle(el)
			const { base, groups, image } = ground(el.parentElement)
			behind.set(el, {
				base: backgroundColor === 'rgba(0, 0, 0, 0)' ? base : over(backgroundColor, base),
				groups: opacity === '1' ? groups : [{ base, opacity: Number(opacity) }, ...groups],
				image: backgroundImage !== 'none' || image && !backgroundColor.startsWith('rgb('),
			})
		}
		return behind.get(el)
	}
	const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => sum + part * ((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)(colour[i] / 255), 0)
	const look = (el, { color, fontSize, fontWeight }) => {
		const { base, groups, image } = ground(el), size = parseFloat(fontSize)
		const paint = [color, size, fontWeight, base, image, JSON.stringify(groups)].join()
		if (paints.has(paint)) return
		paints.add(paint)
		if (image || groups.some(({ opacity }) => !opacity)) return // it cannot be computed, or seen
		let text = over(color, base), back = base
		for (const group of groups) [text, back] = [mix(group.base, text, group.opacity), mix(group.base, back, group.opacity)]
		const [less, more] = [light(text), light(back)].sort((a, b) => a - b), ratio = (more + 0.05) / (less + 0.05)
		if (ratio < (size >= 24 || size >= 18.66 && fontWeight >= 700 ? 3 : 4.5)) pale.push(ratio.toFixed(2) + ': ' + el.outerHTML.slice(0, 160))
	}
	const forced = matchMedia('(forced-colors: active)').matches
	for (const el of document.body.querySelectorAll('*')) {
		const scrolls = el.clientHeight && (el.scrollHeight > el.clientHeight || el.scrollWidth > el.clientWidth)
		const ruled = shaped && (scrolls || el.matches(rules) || el.getAttributeNames().some((name) => name.startsWith('aria-')))
		const written = painted && [...el.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim().length > 1)
		if (!ruled && !written || !el.checkVisibility({ visibilityProperty: true })) continue
		const style = getComputedStyle(el)
		if (ruled) {
			const shape = hash(own(el), own(el.parentElement), el.offsetWidth < 24, el.offsetHeight < 24, scrolls && style.overflow !== 'visible',
				el.textContent.trim() === '', within(el), Boolean(el.labels?.length), Boolean(el.querySelector('a, button, input, select, textarea, [tabindex]')))
			if (!shapes.has(shape)) shapes.set(shape, el)
		}
		if (!written || el.offsetWidth < 2 || el.offsetHeight < 2 || el.closest(':disabled, [aria-disabled=true]')) continue // whose contrast is free
		if (forced && style.forcedColorAdjust === 'auto') continue // the system's colours
		look(el, style)
	}
	window.kinds = (names) => {
		const wanted = new Set(names.map((name) => shapes.get(name))), context = { include: [], exclude: [] }
		for (const el of document.body.querySelectorAll('*')) {
			const above = wanted.has(el.parentElement)
			if (wanted.has(el) !== above) context[above ? 'exclude' : 'include'].push(el)
		}
		return context
	}
	const order = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6, main, nav, header, footer, aside, dialog, section[aria-label], form[aria-label], [role=region], [role=search]')]
		.filter((el) => el.checkVisibility()).map((el) => el.localName + (el.role ?? ''))
	const { color, backgroundColor } = getComputedStyle(document.body)
	return { Shapes: [...shapes.keys()], Pale: pale, Colours: color + backgroundColor + forced, Outline: order.map((one, i) => (order[i - 1] ?? '') + ' ' + one) }
}`

// looked is what axe-core has looked at.
var looked struct {
	sync.Mutex
	at map[string]bool
}

// notYet returns those of a sort that axe-core has not looked at, and notes them.
func notYet(sort string, all []string) (those []string) {
	looked.Lock()
	defer looked.Unlock()
	if looked.at == nil {
		looked.at = map[string]bool{}
	}
	for _, one := range all {
		if !looked.at[sort+one] {
			looked.at[sort+one] = true
			those = append(those, one)
		}
	}
	return those
}
