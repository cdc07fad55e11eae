package displaytools_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

// What an agent's own call returned is shown whole, to the user alone.
func TestResultsAreShownWhole(t *testing.T) {
	logged := map[string]string{"b1": strings.Repeat("a line\n", 5000)}
	tool, _, store := userTool(t, displaytools.ShowResult, displaytools.Config{
		Results: func(_ context.Context, id string, from int64) (displaytools.Returned, error) {
			if from != 7 {
				t.Errorf("from %d", from)
			}
			if logged[id] == "" {
				return displaytools.Returned{}, errors.New("the log has none")
			}
			return displaytools.Returned{Text: logged[id], Arguments: json.RawMessage(`{"command":"make"}`)},
				nil
		}})
	result := func(id string, by event.Actor) (agent.Result, error) {
		return call(t, tool, by, `{"toolCallId":"`+id+`","from":7,"name":"make"}`)
	}
	if _, err := result("b1", event.ByAgent); err == nil ||
		!strings.Contains(err.Error(), "the user's alone") {
		t.Errorf("an agent's call: %v", err)
	}
	res, err := result("b1", event.ByUser)
	if err != nil || res.Type != agent.Success || strings.Contains(res.TextForModel, "a line") {
		t.Fatalf("%+v, %v", res, err)
	}
	o, err := store.Get(outputs.ID(res.Telemetry.OutputID))
	if err != nil || o.Size() != int64(len(logged["b1"])) || !o.Complete() ||
		o.Meta().Command != "make" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := result("b2", event.ByUser); err == nil ||
		!strings.Contains(err.Error(), "the log has none") {
		t.Errorf("%v", err)
	}
}

// What came of a look at keys or passwords is asked about, as the file itself is: whether the user
// was asked about the agent's call or the agent made it unasked.
func TestResultsOfSecretsAreAsked(t *testing.T) {
	ws := t.TempDir()
	if err := os.WriteFile(filepath.Join(ws, ".env"), []byte("TOKEN=CANARY"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments, asked, want string
	}{
		{`{"path":".env"}`, "", ".env"}, {`{"path":"` + ws + `/.env","view_range":[1,2]}`, "", ".env"},
		{`{"command":"cat .env | head -1"}`, "", ".env"},
		{`{"command":"cat .e*"}`, "", ".env"}, {`{"pattern":"TOKEN"}`, "deploy.key", "deploy.key"},
		{`{"path":"main.go"}`, "", ""}, {`{"command":"go test ./..."}`, "", ""},
		{`["x"]`, "", ""}, {``, "", ""},
	} {
		tool, set, _ := userTool(t, displaytools.ShowResult, displaytools.Config{Workspace: ws,
			Results: func(context.Context, string, int64) (displaytools.Returned, error) {
				return displaytools.Returned{
					Text:      "TOKEN=CANARY",
					Arguments: json.RawMessage(c.arguments),
					Secret:    c.asked,
				}, nil
			}})
		ctx := agent.WithCall(t.Context(), agent.CallInfo{
			SessionID:  "s",
			ToolCallID: "c",
			By:         event.ByUser,
		})
		a, err := tool.Plan(ctx, json.RawMessage(`{"toolCallId":"b1","from":7,"name":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if asks := a.Ask != nil && a.Ask.Sensitive; asks != (c.want != "") || asks &&
			a.Ask.Resource != c.want {
			t.Errorf("%s: asked about %+v, want %q", c.arguments, a.Ask, c.want)
		}
		set.Close()
	}
}
