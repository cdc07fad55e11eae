package copilot_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/event"
)

// sent is what the CLI sent to a conversation.
type sent struct {
	mu     sync.Mutex
	events []cli.Event
}

func (s *sent) take(e cli.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// has reports whether an event of a type holds a text.
func (s *sent) has(kind, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.events, func(e cli.Event) bool {
		return e.Type == kind && strings.Contains(string(e.Data), text)
	})
}

// What docs/events.md says of rare events and fields is what the CLI sends, and what becomes of it.
func TestRealRareEvents(t *testing.T) {
	const log, shown = "canary5b61aa", "canary90d7c2"
	model := copilottest.New(t)
	cfg := real(t, model)
	k := open(t, sharing(t, cfg), fresh("rare"), false)
	s := &sent{}
	copilot.Tap(k.conn, s.take)
	k.host.Tool = func(_ context.Context, c agent.ToolCall) agent.Result {
		if c.Name == "display_image" {
			return agent.Result{Type: agent.Success, TextForModel: "Here it is.", SessionLog: log,
				Binary: []agent.BinaryResult{{
					Data:        base64.StdEncoding.EncodeToString(dot(t)),
					MimeType:    "image/png",
					Type:        "image",
					Description: shown,
				}}}
		}
		return agent.Result{Type: agent.Rejected, TextForModel: "Not now.", SessionLog: log}
	}
	model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "BREAK" {
			return &copilottest.Reply{Status: http.StatusBadRequest}
		}
		return nil
	})
	helper := func(kind, prompt string) string {
		return `call task {"description":"look","prompt":"` + prompt + `","agent_type":"` + kind +
			`","mode":"sync","name":"h"}`
	}
	for _, p := range []string{`call bash {"command":"echo printed","description":"look"}`,
		"image dot.png",
		helper("explore", "hello"), helper("general-purpose", "BREAK")} {
		if err := k.say(p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	before := len(model.Requests())
	if err := k.say("show go.mod"); err != nil || len(model.Requests()) != before+1 {
		t.Errorf("a rejected result: %v, %d calls of the model", err, len(model.Requests())-before)
	}
	pictures := 0
	for _, m := range model.Requests()[before].Messages {
		if slices.Contains(m.Parts, "image_url") {
			pictures++
		}
	}
	if pictures != 1 {
		t.Errorf("%d messages to the model have a picture, not one", pictures)
	}
	for _, e := range [][2]string{
		{"assistant.streaming_delta", `"totalResponseSizeBytes":`},
		{"assistant.usage", `"quotaSnapshots":{}`}, // its providers are the user's own
		{"tool.execution_partial_result", "printed"},
		{"tool.execution_complete", `"result":{"binaryResultsForLlm":[{"data":`},
		{"tool.execution_complete", shown},
		{"tool.execution_complete", `"error":{"code":"rejected"`},
		{"subagent.selected", `"agentName":"explore"`},
		{"subagent.failed", "scripted refusal"},
	} {
		if !s.has(e[0], e[1]) {
			t.Errorf("the CLI sent no %s with %s", e[0], e[1])
		}
	}
	if s.has("tool.execution_complete", log) {
		t.Error("the CLI was sent a sessionLog")
	}
	var got strings.Builder
	for _, d := range k.host.Events() {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(string(event.TypeOf(d)) + " " + string(b) + "\n")
	}
	for _, want := range []string{`"partialOutput":"printed\n"`,
		`subagent.selected {"toolCallId":"p3-`, `"agentName":"Explore Agent"`,
		`subagent.failed {"toolCallId":"p4-`} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the session has no %s in\n%s", want, got.String())
		}
	}
	for _, bad := range []string{"binaryResults", "quotaSnapshots", "totalResponseSizeBytes"} {
		if strings.Contains(got.String(), bad) {
			t.Errorf("the session has %s", bad)
		}
	}
}
