package page_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/page"
	"webchat/internal/page/pagetest"
	"webchat/internal/wording"
)

// invisible are the kinds of event that change nothing a page shows.
var invisible = []event.Type{"session.idle", "session.shutdown", "assistant.turn_start",
	"assistant.turn_end",
	"assistant.usage", "permission.revoked", "output.opened", "stream.resync", "stream.closing",
	"session.changed"}

func TestStoriesHoldEveryKindOfEvent(t *testing.T) {
	seen := map[event.Type]bool{}
	for _, s := range stories() {
		for _, d := range s {
			seen[event.TypeOf(d)] = true
		}
	}
	for _, d := range event.Known() {
		if !seen[event.TypeOf(d)] && !slices.Contains(invisible, event.TypeOf(d)) {
			t.Errorf("no story holds %s", event.TypeOf(d))
		}
	}
}

func walk(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

// whole returns the page of a story and its list of sessions.
func wholeStory(t *testing.T, p *page.Pages, entries []event.Entry) string {
	t.Helper()
	pr := p.Projector("s1")
	pr.Feed(entries...)
	var b strings.Builder
	list := []eventlog.Summary{{
		ID:     "s1",
		Title:  "One",
		Status: event.Waiting,
		Open:   eventlog.Open{Asks: "rm -rf \u202e x"},
		Pinned: true,
	}, {ID: "s2", Status: event.Running, Open: eventlog.Open{Since: start.UnixMilli()}}, {
		ID:        "s3",
		Open:      eventlog.Open{Failed: true},
		UpdatedAt: start.AddDate(-1, 0, 0),
	}}
	view := page.View{Side: page.Side{
		Active: list[:2],
		Folders: []page.Folder{{
			ID:    "w1",
			Path:  "/home/me/<b>",
			Name:  "<b>",
			Open:  true,
			Count: 1,
			Part:  page.Part{Sessions: list[2:], Cursor: "next"},
		}},
	}, Available: []string{"offline"}}
	if err := p.Session(&b, view, pr); err != nil {
		t.Fatal(err)
	}
	return opened(t, b.String(), pr)
}

// What the page's policy would refuse silently must not be in a page: inline
// styles and scripts. References must lead somewhere, and names be unique.
func TestPagesKeepThePolicy(t *testing.T) {
	eachStory(t, func(t *testing.T, p *page.Pages, entries []event.Entry) {
		for i := range entries {
			checkPage(t, wholeStory(t, p, entries[:i+1]))
		}
	})
}

func checkPage(t *testing.T, src string) {
	t.Helper()
	d := pagetest.Parse(t, src)
	ids := map[string]int{}
	walk(d.Root, func(n *html.Node) {
		if id, ok := pagetest.Attr(n, "id"); ok {
			ids[id]++
		}
	})
	for id, n := range ids {
		if n > 1 || id == "" {
			t.Errorf("%d elements have the id %q", n, id)
		}
	}
	walk(d.Root, func(n *html.Node) {
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "src" && !strings.HasPrefix(a.Val, "/static/") &&
				!strings.HasPrefix(a.Val, "/api/outputs/"):
				t.Errorf("<%s> loads %q", n.Data, a.Val)
			case n.Data == "use" && a.Key == "href" && ids[strings.TrimPrefix(a.Val, "#")] != 1:
				t.Errorf("there is no icon %q in %.300s", a.Val, outer(n.Parent.Parent))
			case slices.Contains([]string{"aria-labelledby", "aria-controls", "for"}, a.Key) &&
				slices.ContainsFunc(strings.Fields(a.Val), func(id string) bool { return ids[id] != 1 }):
				t.Errorf("<%s> %s=%q leads nowhere", n.Data, a.Key, a.Val)
			}
		}
		if _, linked := pagetest.Attr(n, "src"); n.Data == "script" && !linked || n.Data == "style" {
			t.Errorf("inline <%s>", n.Data)
		}
	})
}

const evil = `<img src=x onerror=alert(1)><script>alert(1)</script>"' onmouseover=a <svg/onload=b> ${x} {{.}}`

// spoil puts something into every text an agent, a user or a command can choose.
func spoil(v reflect.Value, with string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), with)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				spoil(v.Field(i), with)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				spoil(v.Index(i), with)
			}
		} else if raw, ok := v.Interface().(json.RawMessage); ok && json.Valid(raw) {
			v.SetBytes(spoiled(raw, with))
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + with)
		}
	}
}

// spoiled is a call's arguments with the same in their texts.
func spoiled(raw json.RawMessage, with string) json.RawMessage {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil || args["outputId"] != nil { // telemetry is ours
		return raw
	}
	for k, x := range args {
		if text, ok := x.(string); ok {
			args[k] = text + with
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(args); err != nil {
		panic(err) // it was decoded before
	}
	return bytes.TrimSpace(b.Bytes())
}

// spoiledStory is a story with something in all texts of it.
func spoiledStory(story []event.Data, with string) []event.Entry {
	var data []event.Data
	for _, d := range story {
		v := reflect.New(reflect.TypeOf(d)).Elem()
		v.Set(reflect.ValueOf(d))
		spoil(v, with)
		data = append(data, v.Interface().(event.Data))
	}
	return newLog().add(data...).entries
}

func TestTextOfOthersStaysText(t *testing.T) {
	all := stories()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			src := wholeStory(t, pages(t, 3), spoiledStory(all[name], evil))
			checkPage(t, src)
			if strings.Contains(src, "<img src=x") || strings.Contains(src, "<script>alert") {
				t.Error("markup came through")
			}
		})
	}
}

// hiding are characters that a reader of an attribute would not see, or that turn the rest
// around, and those that a terminal obeys when the file is printed there.
const hiding = "a\x1b]0;b\x07\x00\u009b31m\u202e\u2066\u200b\u00ad\u2028\x7f\nz"

// Nothing hides in an attribute of a page, of what is streamed to it, or of an export, and no
// control character stands in them at all.
func TestNothingHidesInAttributes(t *testing.T) {
	all := stories()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			p, entries := pages(t, 3), spoiledStory(all[name], hiding)
			pr := p.Projector("s1")
			frame, _ := pr.Feed(entries...)
			var sent page.Frame
			if err := json.Unmarshal(frame.Data(), &sent); err != nil || len(sent.Ops) == 0 {
				t.Fatalf("%v: %s", err, frame.Data())
			}
			for _, op := range sent.Ops {
				nothingHides(t, "the stream", op.HTML)
			}
			view, session := page.View{}, eventlog.Summary{ID: "s1", UpdatedAt: start}
			spoil(reflect.ValueOf(&session), hiding)
			view.Side = page.Side{
				Active: []eventlog.Summary{session},
				Folders: []page.Folder{{
					ID:   "w1",
					Open: true,
					Part: page.Part{Sessions: []eventlog.Summary{session}},
				}},
			}
			view.Available = []string{"one"}
			spoil(reflect.ValueOf(&view), hiding)
			var b strings.Builder
			if err := p.Session(&b, view, pr); err != nil {
				t.Fatal(err)
			}
			nothingHides(t, "the page", opened(t, b.String(), pr))
			b.Reset()
			whole := p.ForExport("s1")
			whole.Feed(entries...)
			export := eventlog.Summary{ID: "s1", CreatedAt: start}
			spoil(reflect.ValueOf(&export), hiding)
			film := &page.Film{}
			film.Take(entries...)
			write, err := p.Export(export, film, whole)
			if err != nil {
				t.Fatal(err)
			}
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			nothingHides(t, "the export", b.String())
			if film.Last() == 0 {
				return
			}
			b.Reset()
			moment := p.ForReplay("s1")
			moment.Load(entries...)
			if err := p.Replay(&b, film, film.Last(), "", moment); err != nil {
				t.Fatal(err)
			}
			nothingHides(t, "the replay", b.String())
		})
	}
}

// exact are attributes that the page sends back unchanged; no person reads them.
var exact = []string{"data-args", "data-path", "data-choice", "data-folder"}

func nothingHides(t *testing.T, where, src string) {
	t.Helper()
	seen := map[string]bool{}
	for z := html.NewTokenizer(strings.NewReader(src)); z.Next() != html.ErrorToken; {
		if raw := string(z.Raw()); strings.HasPrefix(raw, "<") &&
			strings.ContainsFunc(raw, wording.Hides) {
			t.Errorf("%s: a raw character in %q", where, raw)
		}
		for _, a := range z.Token().Attr {
			if strings.ContainsFunc(a.Val, wording.Hides) && !slices.Contains(exact, a.Key) && !seen[a.Key] {
				seen[a.Key] = true
				t.Errorf("%s: %s=%q hides something", where, a.Key, a.Val)
			}
		}
	}
	if i := strings.IndexFunc(src, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	}); i >= 0 {
		t.Errorf("%s holds a control character: %q", where, src[max(0, i-80):i+20])
	}
}

// Whatever the order in which events come, the page is the one a reload gives
// and nothing panics: agents do not keep every promise.
func TestAnyOrderOfEvents(t *testing.T) {
	all := stories()
	var pool []event.Data
	for _, name := range slices.Sorted(maps.Keys(all)) {
		pool = append(pool, all[name]...)
	}
	p := pages(t, 3)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "n")
		l := newLog().add(opening()...)
		for range n {
			l.add(pool[rapid.IntRange(0, len(pool)-1).Draw(rt, "event")])
		}
		pr := p.Projector("s1")
		d := pagetest.Parse(t, wholePage(t, p, pr))
		for batch := range slices.Chunk(l.entries, rapid.IntRange(1, 9).Draw(rt, "batch")) {
			if f, ok := pr.Feed(batch...); ok {
				d.Apply(f.Data())
			}
		}
		if want := pagetest.Parse(t, wholePage(t, p, pr)).State(); want != d.State() {
			rt.Fatalf("reload:\n%s\nstream:\n%s", want, d.State())
		}
	})
}

// A page made after a restart, from the log alone, shows what the live one did.
func TestLogAloneGivesThePage(t *testing.T) {
	eachStory(t, func(t *testing.T, p *page.Pages, entries []event.Entry) {
		if strings.HasSuffix(t.Name(), "in_flight") || strings.HasSuffix(t.Name(), "never_whole") {
			t.Skip("what it shows is not in the log yet, or never")
		}
		live, again := p.Projector("s1"), p.Projector("s1")
		live.Feed(entries...)
		for _, e := range entries {
			if !e.Event.Ephemeral {
				e.Pos = 0
				again.Feed(e)
			}
		}
		if a, b := live.Transcript(), again.Transcript(); sorted(a) != sorted(b) {
			t.Errorf("live:\n%s\nfrom the log:\n%s", a, b)
		}
	})
}

// sorted forgets the order in which messages began: a message that streamed
// stands where it began, one from the log where it ended.
func sorted(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "<", "\n<"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func outer(n *html.Node) string {
	var b strings.Builder
	_ = html.Render(&b, n) // for a message only
	return b.String()
}
