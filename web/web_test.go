package web_test

import (
	"compress/gzip"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"webchat/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, method, address string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, httptest.NewRequest(method, address, nil))
	return w.Result()
}

func TestPresentFilesMayBeKept(t *testing.T) {
	for name, kind := range map[string]string{
		"js/main.js": "text/javascript; charset=utf-8", "css/tokens.css": "text/css; charset=utf-8",
		"favicon.svg": "image/svg+xml",
	} {
		r := get(t, http.MethodGet, web.Static()+"/"+name)
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != kind {
			t.Errorf("%s: status %d, type %q", name, r.StatusCode, r.Header.Get("Content-Type"))
		}
		if kept := r.Header.Get("Cache-Control"); !strings.Contains(kept, "immutable") {
			t.Errorf("%s may be kept as %q", name, kept)
		}
		if r := get(t, http.MethodGet, "/static/000000000000/"+name); r.StatusCode != http.StatusOK ||
			r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s of another version: status %d, kept as %q", name, r.StatusCode,
				r.Header.Get("Cache-Control"))
		}
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, name := range []string{"", "/", "/js", "/js/", "/nothing.js", "/../web.go",
		"/%2e%2e/templates/parts.html", "/js/../../templates/parts.html"} {
		if r := get(t, http.MethodGet, web.Static()+name); r.StatusCode != http.StatusNotFound {
			t.Errorf("%q: status %d", name, r.StatusCode)
		}
	}
}

func TestParseLeavesGapsOut(t *testing.T) {
	tmpl, err := web.Parse(template.New("t").Funcs(template.FuncMap{"base": func() string {
		return ""
	}}), "templates/parts.html")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := tmpl.ExecuteTemplate(&b, "life", map[string]any{"Soon": true, "Title": "Gone in 3 min",
		"Dash": "10 100", "Text": "3 min"}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, `<span class="life num soon"`) ||
		!strings.HasSuffix(got, "</span>") || strings.Contains(got, "\n") {
		t.Errorf("it is written as %q", got)
	}
	if _, err := web.Parse(template.New("t"), "templates/none/*.html"); err == nil {
		t.Error("a pattern that matches nothing was taken")
	}
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	colour  = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|light-dark\(|\brgba?\(`)
	outside = regexp.MustCompile(`^\s*@layer [\w, ]+[;{]`)
)

// Colours live in tokens and in the palette that internal/render/terminal makes, so that
// a theme is nothing but other tokens; every rule lives in a layer.
func TestStyleSheetsKeepTheirOrder(t *testing.T) {
	names, err := fs.Glob(web.FS, "static/css/*.css")
	if err != nil || len(names) == 0 {
		t.Fatalf("style sheets: %v, %v", names, err)
	}
	for _, name := range names {
		b, err := fs.ReadFile(web.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		css := comment.ReplaceAllString(string(b), "")
		if !outside.MatchString(css) {
			t.Errorf("%s begins outside of the layers", name)
		}
		if own := path.Base(name); own == "tokens.css" || own == "palette.css" {
			continue
		}
		for _, c := range colour.FindAllString(css, -1) {
			t.Errorf("%s has a colour of its own: %s", name, c)
		}
	}
}

// Files come compressed to who takes that, the same bytes for everybody.
func TestFilesAreStoredCompressed(t *testing.T) {
	plain, err := fs.ReadFile(web.FS, "static/js/main.js")
	if err != nil {
		t.Fatal(err)
	}
	for accept, want := range map[string]string{"": "", "br": "", "gzip;q=0, identity": "",
		"gzip, deflate, br, zstd": "zstd", "GZIP;q=0.5": "gzip"} {
		r := httptest.NewRequest(http.MethodGet, web.Static()+"/js/main.js", nil)
		r.Header.Set("Accept-Encoding", accept)
		w := httptest.NewRecorder()
		web.Handler().ServeHTTP(w, r)
		if got := w.Result().Header.Get("Content-Encoding"); got != want {
			t.Errorf("%q gets %q, want %q", accept, got, want)
		}
		var body io.Reader = w.Body
		switch want {
		case "gzip":
			body, err = gzip.NewReader(body)
		case "zstd":
			body, err = zstd.NewReader(body)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(body); err != nil || string(b) != string(plain) {
			t.Errorf("%q: %d bytes, want %d: %v", accept, len(b), len(plain), err)
		}
	}
}

// Every style sheet is in one that a page loads.
func TestStylesAreNamed(t *testing.T) {
	names, err := fs.Glob(web.FS, "static/css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(web.First, web.Later, []string{"replay", "export", "looking"})
	for _, name := range names {
		if own := strings.TrimSuffix(path.Base(name), ".css"); !slices.Contains(all, own) {
			t.Errorf("%s is in no style sheet that a page loads", own)
		}
	}
	if r := get(t, http.MethodGet, web.Static()+"/css/first.css"); r.StatusCode != http.StatusOK ||
		r.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("the first style sheet: %d, %q", r.StatusCode, r.Header.Get("Content-Type"))
	}
}
