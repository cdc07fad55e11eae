package server_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/event"
	"webchat/internal/store/storetest"
)

// counting is an agent with a model, which reports how full its context is, or what a call
// took, or neither, as its prompt wants; at last it may ask.
type counting struct{ *offline.Backend }

func (counting) Name() string { return "counting" }

func (c counting) Open(ctx context.Context, o agent.Options, host agent.Host) (agent.Conn, error) {
	conn, err := c.Backend.Open(ctx, o, host)
	return counter{conn, host}, err
}

type counter struct {
	agent.Conn
	host agent.Host
}

func (c counter) Prompt(ctx context.Context, p agent.Prompt) error {
	var data []event.Data
	if strings.Contains(p.Content, "fill") {
		data = append(data, event.SessionUsageInfo{TokenLimit: 128_000, CurrentTokens: 14_200})
	}
	if strings.Contains(p.Content, "use") {
		data = append(data, event.AssistantUsage{Model: "m", InputTokens: 12_300, OutputTokens: 4})
	}
	for _, d := range data {
		if err := c.host.Report(ctx, d); err != nil {
			return err
		}
	}
	if strings.Contains(p.Content, "ask") {
		_, err := c.host.AskPermission(ctx, agent.Permission{
			ToolName: "bash",
			Kind:     agent.KindShell,
			Action:   "run a command",
			Resource: "make",
			Digest:   strings.Repeat("0", 64),
		})
		return err
	}
	return nil
}

var (
	meterOf = regexp.MustCompile(`(?s)id="meter".*?</(?:button|p)>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

// meter is what the meter says on a page that is made now, of the log and of what is in
// flight, as after the one that was open is no longer kept.
func (h *house) meter(id string) string {
	h.t.Helper()
	res, page := h.do("GET", "/sessions/"+id+"?from=1", "")
	if res.StatusCode != 200 {
		h.t.Fatalf("%d %s", res.StatusCode, page)
	}
	_, words, _ := strings.Cut(meterOf.FindString(page), ">")
	return strings.Join(strings.Fields(tag.ReplaceAllString(words, " ")), " ")
}

// The meter says of a session what is true of it, on every page: while it asks, between
// turns, and after a restart with the time of what the log has; never that nothing was sent
// where something was.
func TestMeterSaysWhatWasSent(t *testing.T) {
	db, backend := storetest.NewMemory(),
		counting{offline.New(offline.Config{Path: os.Getenv("PATH")})}
	h := newHouseOn(t, db, backend)
	const now, at = "14.2k of 128k in context", `^14\.2k of 128k in context at \d\d:\d\d$`
	var all []string
	for _, c := range []struct{ prompt, open, later string }{
		{"", "Nothing sent yet", "^Nothing sent yet$"},
		{"fill", now, at},
		{"fill and ask", now, at},
		{"use", "12.3k tokens sent in 1 model call", `^12\.3k tokens sent in 1 model call$`},
		{"use and ask", "Sent, no size reported yet", `^12\.3k tokens sent in 1 model call$`},
		{"say nothing", "Sent, no size reported yet", "^Sent, no size reported yet$"},
	} {
		id, path := h.session(t)
		if all = append(all, id, c.later); c.prompt != "" && !strings.Contains(c.prompt, "ask") {
			h.say(t, path, c.prompt)
		}
		if strings.Contains(c.prompt, "ask") {
			stream := h.open(t, "GET", path+"/events", "")
			if res, body := h.do("POST", path+"/messages", `{"content":"`+c.prompt+
				`"}`); res.StatusCode/100 != 2 {
				t.Fatalf("%d %s", res.StatusCode, body)
			}
			stream.until("permission.requested")
			stream.close()
		}
		if got := h.meter(id); got != c.open {
			t.Errorf("%q: the meter says %q, want %q", c.prompt, got, c.open)
		}
	}
	h.stop()
	h = newHouseOn(t, db, backend)
	for i := 0; i < len(all); i += 2 {
		if got := h.meter(all[i]); !regexp.MustCompile(all[i+1]).MatchString(got) {
			t.Errorf("after a restart the meter says %q, want %s", got, all[i+1])
		}
	}
}
