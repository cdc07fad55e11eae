package page_test

import (
	"strings"
	"testing"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/page"
)

// The sessions of a folder stand below the days on which something happened in them last, by the
// reader's clock.
func TestSessionsStandBelowTheirDays(t *testing.T) {
	zone := time.FixedZone("far", 10*3600)
	now := time.Date(2026, 11, 25, 0, 30, 0, 0, zone) // it is still yesterday elsewhere
	p, err := page.New(page.Config{Outputs: shelf{}, Location: zone, Now: func() time.Time {
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	part := page.Part{ByDay: true}
	for _, ago := range []time.Duration{10 * time.Minute, 20 * time.Minute, time.Hour, 23 * time.Hour,
		48 * time.Hour, 6 * 24 * time.Hour, 7 * 24 * time.Hour, 400 * 24 * time.Hour} {
		part.Sessions = append(part.Sessions, eventlog.Summary{ID: "s1", UpdatedAt: now.Add(-ago).UTC()})
	}
	var b strings.Builder
	if err := p.SessionsPart(&b, page.View{}, part, ""); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, words := range []string{"<h3>Today</h3>", "00:20", "00:10", "<h3>Yesterday</h3>", "23:30",
		"01:30", "<h3>Monday</h3>", "00:30", "<h3>Thursday</h3>", "00:30", "<h3>18 November</h3>",
		"00:30", "<h3>21 October 2025</h3>", "00:30"} {
		i := strings.Index(b.String()[at:], words)
		if i < 0 {
			t.Fatalf("no %s after %s", words, b.String()[:at])
		}
		at += i + len(words)
	}
	if n := strings.Count(b.String(), "<h3>"); n != 6 {
		t.Errorf("%d days, want 6: %s", n, b.String())
	}
	part.ByDay = false
	b.Reset()
	if err := p.SessionsPart(&b, page.View{}, part, ""); err != nil ||
		strings.Contains(b.String(), "<h3>") {
		t.Errorf("days among those that were found: %v, %s", err, b.String())
	}
}
