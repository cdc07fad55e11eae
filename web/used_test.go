package web_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"webchat/web"
)

// sources are the files of a kind below a folder, by name.
func sources(t *testing.T, files fs.FS, ending string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ending) ||
			strings.HasSuffix(name, "_test.go") {
			return err
		}
		b, err := fs.ReadFile(files, name)
		all[name] = string(b)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d files %s: %v", len(all), ending, err)
	}
	return all
}

func joined(files map[string]string) string {
	var b strings.Builder
	for _, text := range files {
		b.WriteString(text + "\n")
	}
	return b.String()
}

var (
	remark      = regexp.MustCompile(`(?s)/\*.*?\*/`)
	selectors   = regexp.MustCompile(`([^{};]+)\{`)
	class       = regexp.MustCompile(`\.([a-zA-Z][\w-]*)`)
	ofTerminals = regexp.MustCompile(`^[arx]\d+$`) // package render makes them from numbers
	word        = regexp.MustCompile(`[\w-]+`)
	property    = regexp.MustCompile(`(--[\w-]+)\s*:`)
	symbol      = regexp.MustCompile(`<symbol id="i-([\w-]+)"`)
	define      = regexp.MustCompile(`define "([^"]+)"`)
	taken       = regexp.MustCompile(`import\s*\{([^}]*)\}\s*from\s*'\./([\w.-]+)'`)
	given       = regexp.MustCompile(`export\s+(?:async\s+)?(?:function\*?|const|let|class)\s+(\w+)`)
)

// Every class, property, icon and template is used somewhere.
func TestNothingIsUnused(t *testing.T) {
	css, js, templates := sources(t, web.FS, ".css"), sources(t, web.FS, ".js"),
		sources(t, web.FS, ".html")
	internal := os.DirFS(filepath.Join("..", "internal"))
	golang := joined(sources(t, internal, ".go")) + joined(sources(t, internal, ".js"))
	sheet, markup := remark.ReplaceAllString(joined(css), ""), joined(templates)
	words := map[string]bool{}
	for _, w := range word.FindAllString(joined(js)+markup+golang, -1) {
		words[w] = true
	}
	for _, s := range selectors.FindAllStringSubmatch(sheet, -1) {
		for _, c := range class.FindAllStringSubmatch(s[1], -1) {
			if !words[c[1]] && !ofTerminals.MatchString(c[1]) {
				t.Errorf("no element has the class %s", c[1])
			}
		}
	}
	for _, p := range property.FindAllStringSubmatch(sheet, -1) {
		if !regexp.MustCompile(`var\(\s*` + p[1] + `\b`).MatchString(sheet + joined(js)) {
			t.Errorf("nothing reads the property %s", p[1])
		}
	}
	for _, s := range symbol.FindAllStringSubmatch(markup, -1) {
		if !strings.Contains(markup, "#i-"+s[1]) && !strings.Contains(joined(js), "i-"+s[1]) &&
			!strings.Contains(golang+joined(js)+markup, `"`+s[1]+`"`) &&
			!strings.Contains(joined(js), "'"+s[1]+"'") {
			t.Errorf("nothing shows the icon %s", s[1])
		}
	}
	for _, d := range define.FindAllStringSubmatch(markup, -1) {
		if !strings.Contains(markup, `template "`+d[1]+`"`) && !strings.Contains(golang, `"`+d[1]+`"`) {
			t.Errorf("nothing executes the template %s", d[1])
		}
	}
}

// A module that takes what another does not give stops the whole page, which no
// compiler says.
func TestModulesGiveWhatIsTaken(t *testing.T) {
	modules, n := sources(t, web.FS, ".js"), 0
	for name, text := range modules {
		for _, m := range taken.FindAllStringSubmatch(text, -1) {
			gives := map[string]bool{}
			for _, g := range given.FindAllStringSubmatch(modules["static/js/"+m[2]], -1) {
				gives[g[1]] = true
			}
			for what := range strings.SplitSeq(m[1], ",") {
				if what, _, _ = strings.Cut(strings.TrimSpace(what), " as "); what == "" {
					continue
				}
				if n++; !gives[what] {
					t.Errorf("%s takes %s, which %s does not give", name, what, m[2])
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d imports were looked at", n)
	}
}

// A :has() that looks all through what grows is asked again with each element that
// comes: of what holds much, it names its way by children.
func TestHasLooksNotThroughAll(t *testing.T) {
	deep := regexp.MustCompile(
		`(?:html|body|#turns|\.(?:app|main|scroll|col|turn|turn-b|said|run|desk|panes?|view|code|lines))(?:[.#:\[][^\s>+~,{]*)?:has\([^>{]`)
	for name, text := range sources(t, web.FS, ".css") {
		for _, rule := range deep.FindAllString(remark.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s: %s… names no way by children", name, rule)
		}
	}
}

// What a rule with :has() changes has a class, an id, an attribute or a tag by which the browser finds
// it. One set of these serves all such rules: with one that has none, each :has() that may have
// changed, as with an element that comes, styles all below it anew.
func TestHasNamesWhatItChanges(t *testing.T) {
	rule := regexp.MustCompile(`[^{};]*:has\([^{};]*\{`)
	part := regexp.MustCompile(`:(?:has|not)\([^()]*\)`)
	n := 0
	for name, text := range sources(t, web.FS, ".css") {
		for _, selectors := range rule.FindAllString(remark.ReplaceAllString(text, ""), -1) {
			selectors = strings.TrimSuffix(selectors, "{")
			bare := selectors
			for was := ""; was != bare; { // from the innermost on
				was, bare = bare, part.ReplaceAllString(bare, ":x")
				bare = regexp.MustCompile(`\([^()]*\)`).ReplaceAllString(bare, "[]")
			}
			for selector := range strings.SplitSeq(bare, ",") {
				n++
				words := strings.FieldsFunc(selector, func(r rune) bool { return strings.ContainsRune(" >+~\n", r) })
				if last := words[len(words)-1]; strings.Trim(strings.ReplaceAll(last, ":x", ""), ":") == "" {
					t.Errorf("%s: %s changes what has no name", name, strings.TrimSpace(selectors))
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d selectors were looked at", n)
	}
}

// The list of keys has every letter that is a key on the Desk, and none that is not.
func TestKeysAreListed(t *testing.T) {
	js, err := fs.ReadFile(web.FS, "static/js/deskkeys.js")
	if err != nil {
		t.Fatal(err)
	}
	html, err := fs.ReadFile(web.FS, "templates/dialogs.html")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(js), "const keys = {")
	table, _, _ = strings.Cut(table, "\n}")
	acts := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:^|[\s,])(?:'(\\?.)'|(\w)): `).FindAllStringSubmatch(table,
		-1) {
		acts[strings.TrimPrefix(m[1], `\`)+m[2]] = true
	}
	acts[`\`], acts["="] = true, false // one is written '\\', and the other is + without Shift
	_, list, _ := strings.Cut(string(html), "<h3>On the Desk</h3>")
	list, _, _ = strings.Cut(list, "</dl>")
	for _, m := range regexp.MustCompile(`<kbd[^>]*>([^<0-9])</kbd>`).FindAllStringSubmatch(list, -1) {
		if !acts[m[1]] && m[1] != "↓" {
			t.Errorf("%s is listed, and does nothing", m[1])
		}
		delete(acts, m[1])
	}
	for key, does := range acts {
		if does && key != "" {
			t.Errorf("%s acts on the Desk, and is not listed", key)
		}
	}
}
