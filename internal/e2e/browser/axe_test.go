package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	cmd := exec.Command(npm, "install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "axe-core@"+axeVersion)
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
// looked at again: the contrast of an element of the same classes in the same colours, and all else of
// one with the same attributes below one with the same. Rules about headings and landmarks look at the
// whole page, once for each two that follow each other.
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
	found := eval[kinds](p, kindsJS)
	var shapes, paints []string
	outline := false
	if rules != inScheme {
		shapes = notYet("shape ", found.Shapes)
	}
	if rules != inWidth {
		paints = notYet("paint ", found.Paints)
	}
	if rules == allRules {
		outline = len(notYet("outline ", found.Outline)) > 0
	}
	switch {
	case len(shapes)+len(paints) == 0 && !outline:
		return
	case len(paints) == 0:
		rules = inWidth
	case len(shapes) == 0:
		rules = inScheme
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
		for _, b := range eval[[]string](p, `axe.run(`+context+`, { iframes: false, resultTypes: ['violations'], ...`+rules+` }).then((r) => r.violations.map((v) =>
			v.id + ' (' + v.help + '): ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.any.map((a) => a.message).join('; ')).join(' | ')))`) {
			p.t.Errorf("%s: %s", state, strings.ReplaceAll(b, "\n", " "))
		}
	}
	if outline {
		look(`document`, inOutline)
	}
	if len(shapes)+len(paints) > 0 {
		list, err := json.Marshal(append(shapes, paints...))
		if err != nil {
			p.t.Fatal(err)
		}
		look(`window.kinds(`+string(list)+`)`, rules)
	}
}

// kinds are the hashes of what is seen of a page, each once.
type kinds struct {
	Shapes  []string // attributes of an element and of the one around it, and whether it is small or scrolls
	Paints  []string // its classes, colours, size of text and what is behind it
	Outline []string // headings and landmarks, two by two
}

// kindsJS makes [kinds], and leaves a function that has axe-core look at one element of each kind.
const kindsJS = `(() => {
	const shapes = new Map(), paints = new Map(), behind = new Map()
	const hash = (...parts) => {
		let a = 5, b = 7
		for (const s of parts.join()) { const c = s.codePointAt(0); a = Math.imul(a ^ c, 16777619); b = Math.imul(b ^ c, 2654435761) }
		return (a >>> 0).toString(36) + (b >>> 0).toString(36)
	}
	const own = (el) => el.localName + ' ' + [...el.attributes].map(({ name, value }) => {
		if (!/^(class|role|type|disabled|hidden|tabindex|aria-.*)$/.test(name)) return name
		return /^aria-(label|describedby|labelledby|controls|owns|value.*|pos.*|set.*)$/.test(name) ? name + (value === '') : name + '=' + value.replace(/\d+/g, '0')
	}).sort().join(' ')
	const ground = (el) => { // what is behind its text
		if (!el) return ''
		if (!behind.has(el)) {
			const { backgroundColor: colour, backgroundImage: image, opacity } = getComputedStyle(el)
			const bare = colour === 'rgba(0, 0, 0, 0)' && image === 'none'
			behind.set(el, (bare || !colour.startsWith('rgb(') ? ground(el.parentElement) : '') + (bare ? '' : colour + image) + (opacity === '1' ? '' : opacity))
		}
		return behind.get(el)
	}
	const forced = matchMedia('(forced-colors: active)').matches
	for (const el of document.body.querySelectorAll('*')) {
		if (!el.checkVisibility({ visibilityProperty: true })) continue
		const { color, fontSize, fontWeight, forcedColorAdjust, overflow } = getComputedStyle(el)
		const scrolls = overflow !== 'visible' && (el.scrollHeight > el.clientHeight || el.scrollWidth > el.clientWidth)
		const shape = hash(own(el), own(el.parentElement), el.offsetWidth < 24, el.offsetHeight < 24, scrolls, el === document.activeElement)
		if (!shapes.has(shape)) shapes.set(shape, el)
		if (forced && forcedColorAdjust === 'auto') continue // the system's colours
		const paint = hash(el.localName, el.className, color, fontSize, fontWeight, ground(el))
		if (!paints.has(paint)) paints.set(paint, el)
	}
	window.kinds = (names) => {
		const wanted = new Set(names.map((name) => shapes.get(name) ?? paints.get(name))), context = { include: [], exclude: [] }
		for (const el of document.body.querySelectorAll('*')) {
			const above = wanted.has(el.parentElement)
			if (wanted.has(el) !== above) context[above ? 'exclude' : 'include'].push(el)
		}
		return context
	}
	const order = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6, main, nav, header, footer, aside, dialog, section[aria-label], form[aria-label], [role=region], [role=search]')]
		.filter((el) => el.checkVisibility()).map((el) => el.localName + (el.role ?? ''))
	return { Shapes: [...shapes.keys()], Paints: [...paints.keys()], Outline: order.map((one, i) => (order[i - 1] ?? '') + ' ' + one) }
})()`

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
