package canary_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/canary"
	"webchat/internal/displaytools"
	"webchat/internal/eventlog"
	"webchat/internal/outputs"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// trial is one with the display tools; said are the names of its lines.
func trial(t *testing.T) (*canary.Trial, *[]string) {
	t.Helper()
	said := &[]string{}
	tr, err := canary.New(canary.Config{
		Tools: func(workspace string, out *outputs.Store) func(eventlog.ID) (agent.Toolset, error) {
			return func(id eventlog.ID) (agent.Toolset, error) {
				return displaytools.New(displaytools.Config{
					SessionID: string(id),
					Workspace: workspace,
					Outputs:   out,
					Env:       os.Environ(),
				})
			}
		},
		Say: func(name, _ string, _ ...any) { *said = append(*said, name) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr, said
}

// chatty is a backend that sends what it is given to a model at an address.
type chatty struct {
	agent.Backend
	address  string
	sent     string
	encoding string
}

func (c chatty) Open(ctx context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/chat",
		strings.NewReader(c.sent))
	if err != nil {
		return nil, err
	}
	if c.encoding != "" {
		r.Header.Set("Content-Encoding", c.encoding)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := res.Body.Close(); err != nil {
		return nil, err
	}
	return c.Backend.Open(ctx, o, h)
}

// Where no model is called, there is nothing to prove.
func TestNoModelProvesNothing(t *testing.T) {
	tr, said := trial(t)
	err := tr.Run(t.Context(), offline.New(offline.Config{}), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "nothing was proven: offline calls no model") {
		t.Errorf("%v", err)
	}
	if got := strings.Join(*said, " "); got != "backend shown" {
		t.Error(got)
	}
}

func TestWhatTheModelGets(t *testing.T) {
	for name, c := range map[string]struct {
		sent     func(canary string) string
		encoding string
		want     string
	}{
		"honest": {func(string) string { return "Displayed canary.txt" }, "", ""},
		"leak": {func(text string) string {
			return `{"content":"` + text + `"}`
		}, "", "THE CANARY REACHED THE MODEL"},
		"compressed": {func(string) string { return "\x1f\x8b" }, "gzip", "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got <- r.URL.Path + " " + string(b)
			}))
			defer model.Close()
			tr, said := trial(t)
			address, err := tr.Before(t.Context(), model.URL+"/v1")
			if err != nil {
				t.Fatal(err)
			}
			sent := c.sent(tr.Text())
			err = tr.Run(t.Context(), chatty{offline.New(offline.Config{}), address, sent, c.encoding}, nil)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if lines := strings.Join(*said, " "); err == nil && lines != "backend shown sent ok" {
				t.Error(lines)
			}
			if errors.Is(err, canary.ErrLeaked) != (name == "leak") {
				t.Errorf("%v is taken for another error", err)
			}
			if got := <-got; got != "/v1/chat "+sent {
				t.Errorf("the model got %q", got)
			}
		})
	}
}

type report struct {
	messages int
	found    bool
}

func (r report) Seen() (int, bool) { return r.messages, r.found }

func TestWhatTheBackendReports(t *testing.T) {
	for want, r := range map[string]report{
		"":                             {3, false},
		"THE CANARY REACHED THE MODEL": {3, true},
		"nothing was proven":           {0, false},
	} {
		tr, _ := trial(t)
		err := tr.Run(t.Context(), offline.New(offline.Config{}), r)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
