package displaytools_test

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/tokens"
)

// userTool is one of the user's own tools, of a session whose set the test configures.
func userTool(t *testing.T, name string,
	c displaytools.Config) (agent.Tool, *displaytools.Set, *outputs.Store) {
	t.Helper()
	store, err := outputs.New(outputs.Config{TTL: time.Hour, Budget: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c.SessionID, c.Workspace, c.Outputs = "s", cmp.Or(c.Workspace, t.TempDir()), store
	set, err := displaytools.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tool := range set.Tools() {
		if tool.Spec().Name == name {
			if !tool.Spec().UserOnly {
				t.Error("agents are offered it")
			}
			return tool, set, store
		}
	}
	t.Fatal("there is no such tool")
	return nil, nil, nil
}

// inputTool is show_input of a session, with what is announced for it.
func inputTool(t *testing.T) (agent.Tool, *displaytools.Set, *displaytools.Inputs, *outputs.Store) {
	t.Helper()
	inputs := &displaytools.Inputs{}
	tool, set, store := userTool(t, displaytools.ShowInput, displaytools.Config{Inputs: inputs})
	return tool, set, inputs, store
}

func show(t *testing.T, tool agent.Tool, by event.Actor) (agent.Result, error) {
	return call(t, tool, by, `{"name":"build.log"}`)
}

func call(t *testing.T, tool agent.Tool, by event.Actor, args string) (agent.Result, error) {
	ctx := agent.WithCall(t.Context(), agent.CallInfo{SessionID: "s", ToolCallID: "c", By: by})
	a, err := tool.Plan(ctx, json.RawMessage(args))
	if err != nil {
		return agent.Result{}, err
	}
	return a.Run(ctx, nil)
}

func TestInputIsTheUsersAlone(t *testing.T) {
	tool, _, inputs, _ := inputTool(t)
	inputs.Announce("s", "build.log",
		displaytools.Input{ReadCloser: io.NopCloser(strings.NewReader("x")), Shown: func(string) {}})
	if _, err := show(t, tool, event.ByAgent); err == nil ||
		!strings.Contains(err.Error(), "the user's alone") {
		t.Errorf("an agent's call: %v", err)
	}
}

// However what is piped is called, the sentence about it is cheap.
func TestInputOfAnyName(t *testing.T) {
	tool, _, inputs, _ := inputTool(t)
	name := strings.Repeat("𒀀", 80)
	inputs.Announce("s", name, displaytools.Input{
		ReadCloser: io.NopCloser(strings.NewReader("x\n")),
		Shown:      func(string) {},
	})
	res, err := call(t, tool, event.ByUser, `{"name":"`+name+`"}`)
	if n, _ := tokens.Count(res.TextForModel); err != nil || n > 12 ||
		!strings.HasSuffix(res.TextForModel, " to user (1 line)") {
		t.Errorf("%d tokens: %q, %v", n, res.TextForModel, err)
	}
}

func TestInputIsShownOnce(t *testing.T) {
	tool, _, inputs, store := inputTool(t)
	var id string
	announce := func() func() {
		return inputs.Announce("s", "build.log",
			displaytools.Input{
				ReadCloser: io.NopCloser(strings.NewReader("one\ntwo\n")),
				Shown:      func(shown string) { id = shown },
			})
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
		if res, err := show(t, tool, event.ByUser); err != nil || res.Type != agent.Failed ||
			!strings.Contains(res.Error, "Pipe it into") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

func TestInputEndsWithItsSession(t *testing.T) {
	tool, set, inputs, _ := inputTool(t)
	in, writes := io.Pipe()
	begun := make(chan struct{})
	inputs.Announce("s", "build.log", displaytools.Input{ReadCloser: in, Shown: func(string) {
		close(begun)
	}})
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
