package displaytools_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/outputs"
)

// inputTool is show_input of a session, with what is announced for it.
func inputTool(t *testing.T) (agent.Tool, *displaytools.Set, *displaytools.Inputs, *outputs.Store) {
	t.Helper()
	store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	inputs := &displaytools.Inputs{}
	set, err := displaytools.New(displaytools.Config{SessionID: "s", Workspace: t.TempDir(), Outputs: store, Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tool := range set.Tools() {
		if tool.Spec().Name == displaytools.ShowInput {
			return tool, set, inputs, store
		}
	}
	t.Fatal("there is no such tool")
	return nil, nil, nil, nil
}

func show(t *testing.T, tool agent.Tool, by event.Actor) (agent.Result, error) {
	ctx := agent.WithCall(t.Context(), agent.CallInfo{SessionID: "s", ToolCallID: "c", By: by})
	a, err := tool.Plan(ctx, json.RawMessage(`{"name":"build.log"}`))
	if err != nil {
		return agent.Result{}, err
	}
	return a.Run(ctx, nil)
}

func TestInputIsTheUsersAlone(t *testing.T) {
	tool, _, inputs, _ := inputTool(t)
	if !tool.Spec().UserOnly {
		t.Error("agents are offered it")
	}
	inputs.Announce("s", "build.log", displaytools.Input{ReadCloser: io.NopCloser(strings.NewReader("x")), Shown: func(string) {}})
	if _, err := show(t, tool, event.ByAgent); err == nil || !strings.Contains(err.Error(), "the user's alone") {
		t.Errorf("an agent's call: %v", err)
	}
}

func TestInputIsShownOnce(t *testing.T) {
	tool, _, inputs, store := inputTool(t)
	var id string
	announce := func() func() {
		return inputs.Announce("s", "build.log", displaytools.Input{ReadCloser: io.NopCloser(strings.NewReader("one\ntwo\n")), Shown: func(shown string) { id = shown }})
	}
	announce()
	res, err := show(t, tool, event.ByUser)
	if err != nil || res.Type != agent.Success || res.Telemetry.OutputID != id {
		t.Fatalf("%+v, %v; %s was shown", res, err, id)
	}
	o, err := store.Get(outputs.ID(id))
	if err != nil || o.Size() != 8 || !o.Complete() || o.Meta().Command != "build.log" {
		t.Errorf("%v", err)
	}
	announce()() // and withdrawn
	for range 2 {
		if res, err := show(t, tool, event.ByUser); err != nil || res.Type != agent.Failed || !strings.Contains(res.Error, "Pipe it into") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func TestInputEndsWithItsSession(t *testing.T) {
	tool, set, inputs, _ := inputTool(t)
	in, writes := io.Pipe()
	begun := make(chan struct{})
	inputs.Announce("s", "build.log", displaytools.Input{ReadCloser: in, Shown: func(string) { close(begun) }})
	ended := make(chan agent.Result, 1)
	go func() {
		res, err := show(t, tool, event.ByUser)
		if err != nil {
			t.Error(err)
		}
		ended <- res
	}()
	<-begun
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if res := <-ended; res.Kind != event.KindAborted {
		t.Errorf("%+v", res)
	}
	if _, err := writes.Write([]byte("x")); err == nil {
		t.Error("who writes is not told")
	}
}
