package browser

import (
	"context"
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
)

// accessible fails the test with each rule that the page, as it stands, breaks.
func (p *page) accessible(state string) {
	p.t.Helper()
	p.follows(allRules, state)
}

// follows is accessible for some of the rules.
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
	if !p.true(`window.axe`) {
		ctx, stop := context.WithTimeout(p.ctx, limit)
		defer stop()
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](source+`; true`)); err != nil {
			p.t.Fatalf("load axe-core: %v", err)
		}
	}
	// What fades in has its contrast once it is there.
	p.wait(`document.getAnimations().every((a) => a.effect.getComputedTiming().endTime === Infinity)`)
	broken := eval[[]string](p, `axe.run(document, { iframes: false, resultTypes: ['violations'], ...`+rules+` }).then((r) => r.violations.map((v) =>
		v.id + ' (' + v.help + '): ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + n.any.map((a) => a.message).join('; ')).join(' | ')))`)
	for _, b := range broken {
		p.t.Errorf("%s: %s", state, strings.ReplaceAll(b, "\n", " "))
	}
}
