package copilot_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
)

// FuzzEvents: whatever a CLI says in a turn, the session hears what the contract
// allows and nothing else. The dialogues are where it starts from.
func FuzzEvents(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		f.Fatal("no dialogues", err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range a.Files {
			if strings.HasPrefix(part.Name, "> ") {
				f.Add(envelopes(part.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		if bytes.Contains(events, []byte("view")) || bytes.Contains(events, []byte(`\u`)) {
			t.Skip("a CLI that uses view is stopped elsewhere")
		}
		host := agenttest.NewHost(agenttest.DisplayTools())
		host.Begin()
		copilot.Play(t, host, agenttest.DisplayTools(), events)
		host.End(agent.ErrDied) // the session ends what the events left open
		host.Closed()
		for _, broken := range host.Broken() {
			t.Errorf("broken rule: %s", broken)
		}
	})
}

// envelopes are the events of a dialogue as they come from the CLI.
func envelopes(script []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(script)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		verb, helper, _ := strings.Cut(verb, "@")
		kind, data, _ := strings.Cut(rest, " ")
		if verb == "event" && data != "" {
			b.WriteString(`{"type":"` + kind + `","agentId":"` + helper + `","data":` + data + "}\n")
		}
	}
	return b.Bytes()
}
