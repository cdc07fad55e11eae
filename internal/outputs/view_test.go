package outputs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// testViews makes HTML that says what was asked for.
type testViews struct{}

func (testViews) Of(*Output) []string { return []string{"lines", "source"} }

func (testViews) View(_ context.Context, o *Output, a Ask) (Window, error) {
	if a.View == "none" {
		return Window{}, &Refusal{Code: "no_view", Sentence: "There is no such view."}
	}
	html := fmt.Sprintf("<i>%d %d %q %q %q %v</i>", a.From, a.Rows, a.Filter, a.Sort, a.At,
		a.With != nil)
	return Window{
		HTML:   []byte(html),
		View:   a.View,
		From:   a.From,
		To:     a.From + 1,
		Total:  9,
		Header: map[string]string{"Note": "x"},
	}, nil
}

func (testViews) Price(ctx context.Context, o *Output, ranges,
	_ [][2]int) (n int, exact bool, err error) {
	var b strings.Builder
	for _, r := range ranges {
		err = errors.Join(err, o.CopyLines(ctx, &b, r[0], r[1]))
	}
	return b.Len(), true, err
}

func (testViews) HTML(_ context.Context, o *Output, from, to int) ([]byte, error) {
	if o.Meta().Path == "bad" {
		return nil, errors.New("secret detail")
	}
	return fmt.Appendf(nil, "<i>%d-%d</i>", from, to), nil
}

func TestViews(t *testing.T) {
	s := newStore(t, 64<<20)
	h := newHandler(s, testViews{})
	o, other := put(t, s, Meta{Type: File}, "a\n"), put(t, s, Meta{Type: File}, "b\n")
	w := ask(h, "GET", string(o.ID())+
		"?format=html&view=default&from=3&rows=7&filter=a&filter=b&sort=-2&at=1.2&with="+
		string(other.ID()))
	if w.Code != 200 || w.Body.String() != `<i>3 7 ["a" "b"] "-2" "1.2" true</i>` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for name, want := range map[string]string{"Webchat-View": "lines", "Webchat-Views": "lines source",
		"Webchat-Rows": "3-4/9", "Webchat-Note": "x",
		"Content-Type": valHTML[0], "Content-Security-Policy": valSandbox[0]} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if head := ask(h, "HEAD", string(o.ID())+"?format=html&view=source"); head.Body.Len() != 0 ||
		head.Header().Get("Webchat-View") != "source" {
		t.Errorf("HEAD: %v", head.Header())
	}
	if w := ask(h, "GET", string(o.ID())+"?format=json"); !strings.Contains(w.Body.String(),
		`"views":["lines","source"]`) {
		t.Errorf("%s", w.Body)
	}
	for _, query := range []string{"view=none&format=html", "view=a", "view=a&format=html&lines=1",
		"view=a&format=html&from=0", "view=a&format=html&rows=5001",
		"view=a&format=html&with=out_x", "view=a&format=html&filter=" + strings.Repeat("x", 5000),
		"view=a&format=html" + strings.Repeat("&filter=a", 21)} {
		if w := ask(h, "GET", string(o.ID())+"?"+query); w.Code != 400 ||
			strings.Contains(w.Body.String(), "views.") || w.Header().Get("Content-Type") != valJSON[0] {
			t.Errorf("%.60s: %d %s", query, w.Code, w.Body)
		}
	}
}
