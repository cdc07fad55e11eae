package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/syntax"

	"webchat/internal/agent/acp"
	"webchat/internal/mcp"
)

// source is the folder of the project.
const source = "../.."

// A fence is a block of code in a page: "```sh" is run by docs.txt, and what is only
// parsed ("```sh parsed") needs a network, a login or another program, or never ends.
type fence struct{ lang, info, text string }

var (
	fenced = regexp.MustCompile("(?ms)^```(\\w*) ?([^\n]*)\n(.*?)^```$")
	inline = regexp.MustCompile("`([^`\n]+)`")
	row    = regexp.MustCompile(`(?m)^\| .* \|$`)
)

// docPages are the pages for users, by their names.
func docPages() (map[string]string, error) {
	pages := map[string]string{}
	names, err := filepath.Glob(source + "/docs/[A-Z]*.md")
	for _, name := range append(names, source+"/README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		pages[strings.TrimSuffix(filepath.Base(name), ".md")] = string(text)
	}
	return pages, err
}

func readPages(t *testing.T) map[string]string {
	t.Helper()
	pages, err := docPages()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func fences(page, lang string) (all []fence) {
	for _, m := range fenced.FindAllStringSubmatch(page, -1) {
		if m[1] == lang {
			all = append(all, fence{m[1], m[2], m[3]})
		}
	}
	return all
}

// documented gives a script what the pages have users do: what each has them run as
// pages/PAGE.sh, the looks of the README as LOOK1 and so on, and as DEFINITIONS what it says
// that the tools' definitions take of a turn of two calls.
func documented(e *testscript.Env) error {
	pages, err := docPages()
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(e.WorkDir, "pages"), 0o755); err != nil {
		return err
	}
	for name, page := range pages {
		var story strings.Builder
		for _, f := range fences(page, "sh") {
			if f.info == "" {
				story.WriteString(f.text)
			}
		}
		if err := os.WriteFile(filepath.Join(e.WorkDir, "pages", name+".sh"), []byte(story.String()),
			0o600); err != nil {
			return err
		}
	}
	for _, f := range fences(pages["README"], "text") {
		for i, look := range strings.Split(strings.TrimSpace(f.text), "\n") {
			e.Setenv("LOOK"+strconv.Itoa(i+1), look)
		}
	}
	m := regexp.MustCompile(
		`(?s)are (\d+) tokens of each call.*fewer than (\d+) tokens`).FindStringSubmatch(pages["README"])
	if m == nil || !regexp.MustCompile(`(?s)\b`+m[1]+`\s+tokens to each call.*\b`+m[2]+
		` to such\s+a\s+turn\s+of\s+two`).MatchString(pages["MODELS"]) {
		return errors.New(
			"README.md and MODELS.md do not say the same about what the tools' definitions cost")
	}
	e.Setenv("DEFINITIONS", m[2])
	return nil
}

func TestReadmeFitsOnAScreenAndAHalf(t *testing.T) {
	if n := len(readPages(t)["README"]); n > 6000 {
		t.Errorf("README.md has %d bytes, and at most 6,000 are read", n)
	}
}

// Every block to run is run: docs.txt names the page.
func TestEveryPageIsRun(t *testing.T) {
	script, err := os.ReadFile("testdata/script/docs.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range readPages(t) {
		toRun := slices.ContainsFunc(fences(page, "sh"), func(f fence) bool { return f.info == "" })
		if named := bytes.Contains(script, []byte("/"+name+".sh")); named != toRun {
			t.Errorf("%s has commands to run: %v; docs.txt runs them: %v", name, toRun, named)
		}
		for _, f := range fences(page, "sh") {
			if f.info != "" && f.info != "parsed" {
				t.Errorf("%s: a block is sh or sh parsed, not %q", name, f.info)
			}
		}
	}
}

// Every command of ours on the pages, in blocks and in text, has the words and flags
// that webchat has; every variable is one that it reads, and every target of make exists.
func TestDocumentedCommands(t *testing.T) {
	for name, page := range readPages(t) {
		for _, f := range fences(page, "sh") {
			checkShell(t, name, f.text)
		}
		text := fenced.ReplaceAllString(page, "")
		for _, m := range inline.FindAllStringSubmatch(text, -1) {
			code := strings.ReplaceAll(m[1], "…", "X")
			switch first, _, _ := strings.Cut(code, " "); {
			case strings.HasPrefix(code, "--"):
				checkCommand(t, name, append([]string{"webchat"}, strings.Fields(code)...))
			case first == "webchat" || first == "make" || strings.HasPrefix(first, "WEBCHAT_") ||
				strings.Contains(code, " webchat "):
				checkShell(t, name, code)
			}
		}
	}
}

func checkShell(t *testing.T, page, text string) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), page)
	if err != nil {
		t.Errorf("%s: %v in\n%s", page, err, text)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		for _, a := range call.Assigns {
			checkVariable(t, page, a.Name.Value)
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, plainWord(w))
		}
		checkCommand(t, page, words)
		return true
	})
}

// plainWord is a word of a command line without its quotes.
func plainWord(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return err.Error()
	}
	return strings.Trim(b.String(), `"'`)
}

// ownWords are variables that webchat reads beside those of its flags.
var ownWords = []string{"WEBCHAT_PROVIDER_KEY", "WEBCHAT_MCP_KEY"}

func checkVariable(t *testing.T, page, name string) {
	t.Helper()
	if flag, ok := strings.CutPrefix(name, "WEBCHAT_"); ok && !slices.Contains(ownWords, name) {
		checkCommand(t, page, []string{"webchat", "--" +
			strings.ToLower(strings.ReplaceAll(flag, "_", "-")) + "=1"})
	}
}

var ourVariable = regexp.MustCompile(`\bWEBCHAT_[A-Z_]+`)

// Every variable in the files to deploy webchat with is one that it reads.
func TestDeployedVariables(t *testing.T) {
	names, err := filepath.Glob(source + "/deploy/*/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range ourVariable.FindAllString(string(b), -1) {
			checkVariable(t, filepath.Base(name), v)
		}
	}
}

func checkCommand(t *testing.T, page string, words []string) {
	t.Helper()
	if len(words) > 1 && words[0] == "make" {
		makefile, err := os.ReadFile(source + "/Makefile")
		if err != nil || !regexp.MustCompile(`(?m)^`+words[1]+`:`).Match(makefile) {
			t.Errorf("%s: %s: there is no such target (%v)", page, strings.Join(words, " "), err)
		}
	}
	for i, w := range words {
		if name, _, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "WEBCHAT_") || i > 0 &&
			words[i-1] == "-e" {
			checkVariable(t, page, name)
		}
	}
	at := slices.IndexFunc(words, func(w string) bool {
		return w == "webchat" || strings.HasSuffix(w, "/webchat")
	})
	if at >= 0 && slices.Contains(words[:at], "exec") && at+1 < len(words) &&
		words[at+1] == "webchat" {
		at++ // after the service of that name
	}
	if at < 0 || slices.Contains(words[:at], "run") || at+1 < len(words) && words[at+1] == "--" {
		return // an image, or a name that another program gives it
	}
	if at > 0 && words[at-1] != "--" && (!slices.Contains(words[:at], "exec") ||
		strings.HasPrefix(words[at-1], "-")) {
		return // an argument, or a flag's value
	}
	_, k, err := newCLI(nil)
	if err != nil {
		t.Fatal(err)
	}
	args := words[at+1:]
	if len(args) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(args[0]) &&
		!slices.ContainsFunc(commandNames(k), func(name string) bool {
			return strings.HasPrefix(name+" ", args[0]+" ")
		}) {
		t.Errorf("%s: webchat has no command %s", page, args[0])
	}
	if wantsHelp(args) {
		return
	}
	if _, err := k.Parse(ordered(k, args)); err != nil &&
		!regexp.MustCompile(`\bexpected `).MatchString(err.Error()) {
		t.Errorf("%s: %s: %v", page, strings.Join(words, " "), err)
	}
}

// What the pages have users write into config.yaml is accepted, and every key of it
// stands in an example.
func TestDocumentedConfiguration(t *testing.T) {
	var all strings.Builder
	for name, page := range readPages(t) {
		for _, f := range fences(page, "yaml") {
			if _, err := parseConfig([]byte(f.text)); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, f.text)
			}
			all.WriteString(f.text)
		}
	}
	for _, key := range yamlKeys(reflect.TypeFor[config]()) {
		if !regexp.MustCompile(`(?m)[\s{]` + key + `:|^` + key + `:`).MatchString(all.String()) {
			t.Errorf("no example has the key %s", key)
		}
	}
}

func yamlKeys(t reflect.Type) (keys []string) {
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return yamlKeys(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if key := t.Field(i).Tag.Get("yaml"); key != "" {
				keys = append(append(keys, key), yamlKeys(t.Field(i).Type)...)
			}
		}
	}
	return keys
}

// The table of agents has each that webchat knows, the program that is looked for, and
// whether it was tried.
func TestDocumentedAgents(t *testing.T) {
	rows := row.FindAllString(readPages(t)["AGENTS"], -1)
	for name, p := range acp.Presets() {
		i := slices.IndexFunc(rows, func(r string) bool {
			return strings.HasPrefix(r, "| `"+name+"` | ")
		})
		if i < 0 {
			t.Errorf("AGENTS.md has no row for %s", name)
			continue
		}
		if untried := strings.Contains(rows[i], "never tried"); untried != p.Untried ||
			!strings.Contains(rows[i], "`"+p.Command[0]+"`") {
			t.Errorf("%s: the program is %s, never tried: %v", rows[i], p.Command[0], p.Untried)
		}
		for _, risky := range p.Risky {
			if !strings.Contains(rows[i], "`"+risky+"`") {
				t.Errorf("%s: a folder with %s is not opened", rows[i], risky)
			}
		}
	}
}

// The lines for MCP clients are those that webchat mcp install uses.
func TestDocumentedClients(t *testing.T) {
	page := readPages(t)["MCP"]
	printed := func(client string) string {
		var out bytes.Buffer
		c := mcp.Installation{
			Server:  []string{"webchat", "mcp"},
			In:      strings.NewReader(""),
			Out:     &out,
			Address: func(string) (string, string, error) { return "", "", os.ErrNotExist },
		}
		err := c.Connect(t.Context(), client)
		if client == "" {
			err = c.List()
		}
		if err != nil {
			t.Fatal(client, err)
		}
		return out.String()
	}
	list, _, _ := strings.Cut(strings.TrimPrefix(printed(""),
		"webchat mcp install CLIENT connects one of these: "), "\n")
	for client := range strings.SplitSeq(list, ", ") {
		said := printed(client)
		line := regexp.MustCompile(`(?m)^    (\w.*)$`).FindStringSubmatch(said)
		if line == nil {
			var compact bytes.Buffer
			if err := json.Compact(&compact, []byte(said[strings.Index(said, "{"):])); err != nil {
				t.Fatal(err)
			}
			line = []string{"", compact.String()}
		}
		if !strings.Contains(page, "`"+line[1]+"`") {
			t.Errorf("MCP.md has no line for %s: %s", client, line[1])
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]+))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// Links lead to files and headings that exist, as GitHub names them.
func TestLinksOfPages(t *testing.T) {
	pages, err := filepath.Glob(source + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Glob(source + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, own...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			to := filepath.Join(filepath.Dir(name), m[1])
			if m[1] == "" {
				to = name
			}
			target, err := os.ReadFile(to)
			if info, err2 := os.Stat(to); err != nil && (err2 != nil || !info.IsDir()) {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
			if m[2] != "" && !slices.Contains(anchors(string(target)), m[2]) {
				t.Errorf("%s links to #%s, which %s does not have", name, m[2], to)
			}
		}
	}
}

func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		all = append(all, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ",
			"-"))
	}
	return all
}
