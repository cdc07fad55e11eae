package page_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/event"
)

var bars = regexp.MustCompile(`class="out" x="([\d.]+)%" width="([\d.]+)%"[^>]*/>\s*<rect class="held" width="([\d.]+)%"`)

// However much was shown, what the model holds and what only the user saw fit the meter,
// and the number is no more than the model has room for; without a model there is none.
func TestMeterNeverExceedsItsRoom(t *testing.T) {
	for _, c := range []struct {
		held, limit, shown int64
		seen               string
	}{
		{0, 128_000, 0, ""},
		{3_000, 128_000, 300, "291 seen"},
		{14_200, 128_000, 57_109, "57.1k seen"},
		{14_200, 128_000, 47_398_896, "113k or more seen"},
		{127_999, 128_000, 5_000, "1 or more seen"},
		{140_000, 128_000, 5_000, "0 or more seen"},
		{9_000, 0, 5_000, "5.0k seen"},
	} {
		p := pages(t, 3)
		pr := p.Projector("s1")
		log := newLog().add(join(opening(), event.SessionUsageInfo{CurrentTokens: c.held, TokenLimit: c.limit},
			show("c1", "render_file_contents", `{"path":"a.txt"}`, "o1", fmt.Sprintf(`{"tokensShown":%d,"tokensSent":9}`, c.shown)), closing(event.Completed))...)
		for _, e := range log.entries {
			pr.Feed(e)
		}
		html := wholePage(t, p, pr)
		if m := bars.FindStringSubmatch(html); m == nil {
			if c.limit > 0 {
				t.Errorf("%+v: the meter has no bar", c)
			}
		} else {
			x, out, held := num(t, m[1]), num(t, m[2]), num(t, m[3])
			if x != held || x+out > 100.05 {
				t.Errorf("%+v: the bar goes from %v%% by %v%%, and %v%% are held", c, x, out, held)
			}
		}
		if got := regexp.MustCompile(`[^>]*seen only by you`).FindString(strings.ReplaceAll(strings.ReplaceAll(html, `<span class="word">`, ""), " </span>", " ")); c.seen == "" && got != "" || c.seen != "" && got != c.seen+" only by you" {
			t.Errorf("%+v: the meter says %q", c, got)
		}
	}
}

func num(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
