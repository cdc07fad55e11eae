package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evanw/esbuild/pkg/api"
)

var importing = regexp.MustCompile(`(?:\bfrom|\bimport\(?)"(\./[^"]*)"`)

// The scripts of a page are few and small: what it begins with is at most 90 kB as it travels, two
// files beside theme.js, and what is needed later is one more. What is made is known by its name
// alone.
func TestPagesAreServedFewScripts(t *testing.T) {
	files := map[string][]byte{}
	maps.Copy(files, first())
	maps.Copy(files, scripts())
	maps.Copy(files, page())
	var names []string
	for name, text := range files {
		if strings.HasSuffix(name, ".map") {
			continue
		}
		names = append(names, name)
		for _, m := range importing.FindAllSubmatch(text, -1) {
			if files[string(m[1][2:])] == nil {
				t.Errorf("%s imports %s", name, m[1])
			}
		}
		var to struct{ Sources []string }
		if err := json.Unmarshal(files[name+".map"], &to); err != nil ||
			!bytes.Contains(text, []byte("//# sourceMappingURL="+name+".map")) {
			t.Errorf("%s has no map: %v", name, err)
		}
		for _, source := range to.Sources {
			if source != "../js/later.js" && file("app/"+source) == nil &&
				file(strings.TrimPrefix(source, "../")) == nil {
				t.Errorf("the map of %s names %s", name, source)
			}
		}
	}
	slices.Sort(names)
	if got, want := strings.Join(names, " "),
		"later.js main.js replay.js shared.js signin.js theme.js worker.js"; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	// which have the same names in them
	for _, name := range []string{"grep", "held", "prompts", "waiting"} {
		if !bytes.Contains(files["later.js"], []byte(" as "+name)) ||
			!bytes.Contains(slices.Concat(files["main.js"], files["shared.js"]), []byte("."+name+")")) {
			t.Errorf("%s is not imported later", name)
		}
	}
	for limit, list := range map[int][]string{90_000: append([]string{"theme", "worker"}, Begins...),
		4_000: {"signin"}} {
		for _, encoding := range []string{"gzip", "zstd"} {
			sum := 0
			for _, name := range list {
				sum += len(packed("app/"+name+".js", encoding, files[name+".js"]))
			}
			if t.Logf("%v: %d bytes as %s", list, sum, encoding); sum > limit || sum == 0 {
				t.Errorf("%v are %d bytes as %s", list, sum, encoding)
			}
		}
	}
}

// Nothing but what is embedded is looked for: whatever the current folder holds, the scripts are
// the same.
func TestBundleReadsNothingOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tsconfig.json": `{"compilerOptions":{"target":"es5","paths":{"./*":["./hostile/*"]}}}`,
		"package.json":  `{"browser":{"./api.js":"./hostile.js"},"sideEffects":false}`,
		"hostile.js":    "alert(1)", "api.js": "alert(2)", "node_modules/api/index.js": "alert(3)",
		"static/js/api.js": "alert(4)",
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	got, err := bundle(FS, api.FormatESModule, []string{"signin"})
	if err != nil || !bytes.Equal(got["signin.js"], scripts()["signin.js"]) {
		t.Errorf("%v\n%s", err, got["signin.js"])
	}
	for _, address := range []string{"./none.js", "../web.js", "api", "https://example.com/x.js",
		"/etc/hosts"} {
		if _, err := bundle(fstest.MapFS{"static/js/a.js": {Data: []byte("import '" + address + "'")}},
			api.FormatESModule, []string{"a"}); err == nil {
			t.Errorf("%s was imported", address)
		}
	}
}

// The version of what is served changes with what makes it.
func TestBundlerIsNamed(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`evanw/esbuild v(\S+)`).FindSubmatch(mod)
	if version == nil || !strings.HasPrefix(bundler, "esbuild "+string(version[1])+",") {
		t.Errorf("go.mod has %q, and files are said to be made by %q", version, bundler)
	}
}
