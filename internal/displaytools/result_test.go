package displaytools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

// What an agent's own call returned is shown whole, to the user alone.
func TestResultsAreShownWhole(t *testing.T) {
	store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	logged := map[string]string{"b1": strings.Repeat("a line\n", 5000)}
	set, err := displaytools.New(displaytools.Config{SessionID: "s", Workspace: t.TempDir(), Outputs: store,
		Results: func(_ context.Context, id string, from int64) (string, error) {
			if from != 7 {
				t.Errorf("from %d", from)
			}
			if logged[id] == "" {
				return "", errors.New("the log has none")
			}
			return logged[id], nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	all := set.Tools()
	tool := all[len(all)-1]
	if s := tool.Spec(); s.Name != displaytools.ShowResult || !s.UserOnly {
		t.Fatalf("%+v", s)
	}
	call := func(id string, by event.Actor) (agent.Result, error) {
		ctx := agent.WithCall(t.Context(), agent.CallInfo{SessionID: "s", ToolCallID: "c", By: by})
		a, err := tool.Plan(ctx, json.RawMessage(`{"toolCallId":"`+id+`","from":7,"name":"make"}`))
		if err != nil {
			return agent.Result{}, err
		}
		return a.Run(ctx, nil)
	}
	if _, err := call("b1", event.ByAgent); err == nil || !strings.Contains(err.Error(), "the user's alone") {
		t.Errorf("an agent's call: %v", err)
	}
	res, err := call("b1", event.ByUser)
	if err != nil || res.Type != agent.Success || strings.Contains(res.TextForModel, "a line") {
		t.Fatalf("%+v, %v", res, err)
	}
	o, err := store.Get(outputs.ID(res.Telemetry.OutputID))
	if err != nil || o.Size() != int64(len(logged["b1"])) || !o.Complete() || o.Meta().Command != "make" {
		t.Errorf("%+v, %v", o, err)
	}
	if res, err := call("b2", event.ByUser); err != nil || res.Type != agent.Failed || !strings.Contains(res.Error, "the log has none") {
		t.Errorf("%+v, %v", res, err)
	}
}
