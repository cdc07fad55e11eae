package server_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// exported is a session with a file, a picture, a command's failure and markup in
// its texts.
func exported(t *testing.T) (h *house, path string) {
	t.Helper()
	h = newHouse(t)
	h.file("go.mod", "module demo\n"+strings.Repeat("// line\n", 40)+"// the last line\n")
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	h.file("dot.png", b.String())
	_, path = h.session(t)
	h.do("PATCH", path, `{"title":"Über <b>maps</b> / \"2\""}`)
	h.say(t, path, "show me go.mod")
	h.say(t, path, "show image dot.png")
	h.say(t, path, "show me missing.txt <script>alert(1)</script>")
	h.say(t, path, "stream 30 words")
	return h, path
}

func TestExportLinesAreTheLog(t *testing.T) {
	h, path := exported(t)
	res, body := h.do("GET", path+"/export?format=jsonl", "")
	if got := res.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment; filename") {
		t.Errorf("Content-Disposition %q", got)
	}
	log := h.logOf(t, path)
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	if len(lines) != len(log) {
		t.Fatalf("%d lines, %d events", len(lines), len(log))
	}
	for i := range lines {
		if lines[i] != log[i].data || !json.Valid([]byte(lines[i])) {
			t.Errorf("line %d is %s", i+1, lines[i])
		}
	}
}

func TestExportMarkdown(t *testing.T) {
	h, path := exported(t)
	for _, query := range []string{"", "?format=md"} {
		res, body := h.do("GET", path+"/export"+query, "")
		if got := res.Header.Get("Content-Type"); got != "text/markdown; charset=utf-8" {
			t.Errorf("Content-Type %q", got)
		}
		for _, want := range []string{"# Über <b>maps</b>", "> show me go.mod",
			"**render_file_contents** `go.mod`", "Displayed go.mod to user (42 lines)",
			"> stream 30 words", "**display_image** `dot.png`"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in\n%s", want, body)
			}
		}
		if strings.Contains(body, "// the last line") {
			t.Error("what was shown only to the user is in the text")
		}
	}
}

// hashOf is how a policy names a script.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// The page stands alone: nothing in it is loaded from elsewhere, and no script but the film's may
// run.
func TestExportPageStandsAlone(t *testing.T) {
	h, path := exported(t)
	res, body := h.do("GET", path+"/export?format=html", "")
	if got := res.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if script := doc.Find("script"); script.Length() != 1 || script.AttrOr("src", "") != "" {
		t.Errorf("%d scripts, want the film's", script.Length())
	} else if policy := doc.Find("meta[http-equiv]").AttrOr("content", ""); !strings.HasSuffix(policy,
		"script-src '"+hashOf(script.Text())+"'") {
		t.Errorf("the policy admits more than that script, or another: %s", policy)
	} else if !strings.Contains(policy, "; base-uri 'none'; form-action 'none';") {
		t.Errorf("the page may have a base, or send a form: %s", policy)
	}
	if n := doc.Find("link, iframe, object, embed, base, form[action]").Length(); n > 0 {
		t.Errorf("%d elements that load or run", n)
	}
	pictures := 0
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			switch {
			case a.Key == "src":
				pictures++
				if !strings.HasPrefix(a.Val, "data:image/png;base64,iVBOR") {
					t.Errorf("src %q", a.Val)
				}
			case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("href %q of %s", a.Val, s.Nodes[0].Data)
			case strings.HasPrefix(a.Key, "on"), a.Key == "srcset", a.Key == "poster":
				t.Errorf("%s of %s", a.Key, s.Nodes[0].Data)
			}
		}
	})
	if pictures != 1 {
		t.Errorf("%d pictures", pictures)
	}
	style := doc.Find("style").Text()
	if !strings.Contains(style, "--canvas") || strings.Contains(style, "@import") ||
		strings.Contains(style, "url(h") || strings.Contains(style, "url(/") {
		t.Error("the styles are not whole, or load something")
	}
	if got := doc.Find("h1").Text(); got != `Über <b>maps</b> / "2"` {
		t.Errorf("heading %q", got)
	}
	text := doc.Find("#turns").Text()
	for _, want := range []string{"show me go.mod", "// the last line", "<script>alert(1)</script>",
		"Displayed go.mod to user"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := doc.Find("#turns .turn").Length(); n != 4 {
		t.Errorf("%d turns", n)
	}
}

func TestExportRefuses(t *testing.T) {
	h, path := exported(t)
	for _, c := range []struct {
		path string
		want int
	}{{path + "/export?format=pdf", 400}, {"/api/sessions/none/export", 404}} {
		if res, body := h.do("GET", c.path, ""); res.StatusCode != c.want ||
			res.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %d %s", c.path, res.StatusCode, body)
		}
	}
	if res, _ := h.do("GET", path+"/export", "", "Authorization:"); res.StatusCode != 401 {
		t.Errorf("signed out: %d", res.StatusCode)
	}
}

// What a search finds is shown with the match, and its address leads to a page
// that has the event, however long ago.
func TestSearchOpensAtTheEvent(t *testing.T) {
	h := newHouse(t)
	h.file("coast/harbour.md", "# Harbour\n")
	_, path := h.session(t)
	h.say(t, path, "where is the Lighthouse")
	h.say(t, path, "show me coast/harbour.md")
	for range 45 {
		h.say(t, path, "stream 2 words")
	}
	for query, want := range map[string]string{"lighthouse": "#t-", "coast": "#c-"} {
		_, body := h.do("GET", "/api/sessions?q="+query, "")
		var found struct {
			Sessions []struct {
				Snippet, URL string
				Parts        []string
				Seq          int64
			}
		}
		if err := json.Unmarshal([]byte(body), &found); err != nil || len(found.Sessions) != 1 {
			t.Fatalf("%s: %v", body, err)
		}
		hit := found.Sessions[0]
		if hit.Seq == 0 || len(hit.Parts) < 3 || !strings.EqualFold(hit.Parts[1], query) ||
			hit.Snippet != strings.Join(hit.Parts, "") {
			t.Errorf("%q: the hit is %+v", query, hit)
		}
		address, id, _ := strings.Cut(hit.URL, "#")
		if !strings.Contains(hit.URL, want) {
			t.Errorf("%q: the address is %q", query, hit.URL)
		}
		_, html := h.do("GET", address, "")
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		if n := doc.Find("#" + id).Length(); n != 1 {
			t.Errorf("%q: %d elements %s in the page of %s", query, n, id, address)
		}
		if _, html := h.do("GET", strings.TrimSuffix(path, "/")[len("/api"):], ""); strings.Contains(html,
			`id="`+id+`"`) {
			t.Errorf("%q: the page of the last turns has it, so nothing was tried", query)
		}
	}
	if res, _ := h.do("GET", path[len("/api"):]+"?from=x", ""); res.StatusCode != 400 {
		t.Errorf("from=x: %d", res.StatusCode)
	}
}
