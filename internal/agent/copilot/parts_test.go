package copilot

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
)

// diary is a session that keeps, in a word each, what it is reported.
type diary struct {
	agent.Host
	mu  sync.Mutex // guards all
	all []string
}

func (d *diary) Report(_ context.Context, data event.Data) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch x := data.(type) {
	case event.TaskStarted:
		d.all = append(d.all, fmt.Sprintf("%s %s began by %s: %s", x.Kind, x.TaskID, x.ToolCallID,
			x.Title))
	case event.TaskOutput:
		d.all = append(d.all, x.TaskID+" printed "+x.Text)
	case event.TaskCompleted:
		d.all = append(d.all, x.TaskID+" "+string(x.Outcome))
	default:
		d.all = append(d.all, string(event.TypeOf(data)))
	}
	return nil
}

// idle is a backend that does nothing.
type idleAgent struct{}

func (idleAgent) Ready(context.Context) error          { return nil }
func (idleAgent) Send(*convo.Turn, agent.Prompt) error { return nil }
func (idleAgent) Abort(*convo.Turn)                    {}
func (idleAgent) Finish(*convo.Turn)                   {}
func (idleAgent) End()                                 {}

// answers is a CLI that answers each method by a text of JSON, as long as it has one.
func answers(known map[string]func() string) asker {
	return func(_ context.Context, method string, _ map[string]any, result any) error {
		if known[method] == nil {
			return agent.ErrDied
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal([]byte(known[method]()), result)
	}
}

// A command that its call left running is a task, whose end is the user's who stops it, whatever
// the CLI says of it; a helper is one, too.
func TestTasksAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, running := &diary{}, true
		c := convo.New(convo.Config{Title: "Agent", Host: host, Agent: idleAgent{}})
		s := &tasks{c: c, explain: func(err error) error {
			return err
		}, helpers: &helpers{calls: map[string]string{"h": "call2"}, work: map[string]*turn{}},
			all: map[string]*background{}, began: map[string]bool{}, ask: answers(map[string]func() string{
				"session.tasks.list": func() string {
					if running {
						return `{"tasks":[{"type":"shell","id":"7","status":"running","command":"sleep 9","executionMode":"background"}]}`
					}
					return `{"tasks":[{"type":"shell","id":"7","status":"failed"}]}`
				},
				"session.tasks.cancel": func() string { running = false; return `{"cancelled":true}` },
			})}
		c.Do(func() {
			x := &execution{Call: convo.Call{ID: "call1", Tool: "bash"}}
			s.callBegan(x, "theirs")
			s.callEnded(x, "<command with shellId: 7 is still running>")
		})
		synctest.Wait()
		c.Do(func() {
			s.printed(shellOutput{"theirs", "tick"})
			s.helperStarts(cli.Event{AgentID: "h"}, nativeHelper{
				AgentName:     "scout",
				ExecutionMode: "background",
			}, nil)
		})
		if err := s.abort(t.Context(), "call1"); err != nil {
			t.Error(err)
		}
		c.Do(s.endAll)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		want := []string{"shell call1 began by call1: sleep 9", "call1 printed tick", "subagent.started",
			"agent call2 began by call2: scout"}
		if len(host.all) != 6 || !slices.Equal(host.all[:4], want) ||
			!slices.Contains(host.all, "call2 interrupted") || !slices.Contains(host.all, "call1 aborted") {
			t.Errorf("%q", host.all)
		}
	})
}

// A turn that was steered does not end while the CLI has not begun with the steer.
func TestTurnsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := convo.New(convo.Config{Title: "Agent", Host: &diary{}, Agent: idleAgent{}})
		s := &turns{
			c:          c,
			helpers:    &helpers{},
			ended:      func(...*execution) {},
			processing: func(context.Context) bool { return true },
		}
		one := newTurn(c.NewTurn(t.Context()), "p1")
		c.Do(func() {
			s.take(one)
			s.begun(one, "native", "p1")
		})
		taken, err := s.steered(func() (string, error) { return "p2", nil })
		c.Do(func() { s.rest(one) })
		synctest.Wait()
		if !taken || err != nil || one.Ended() {
			t.Errorf("taken %v, %v, ended %v", taken, err, one.Ended())
		}
		c.Do(func() {
			s.begun(one, "other", "p2")
			s.rest(one)
		})
		if !one.Ended() || one.native != "native" {
			t.Errorf("ended %v, its prompt is %q", one.Ended(), one.native)
		}
		one.Cancel(nil)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What is chosen is kept for the next process when the CLI has ended, and is as before when the CLI
// refuses it.
func TestChoicesAlone(t *testing.T) {
	b, err := New(Config{Home: t.TempDir(), Providers: Providers{{
		URL:    "http://x",
		Models: []ProviderModel{{ID: "m", Reasoning: true}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	refuses := agent.ErrUnsupported
	c := &chosen{
		b:     b,
		model: "m",
		mode:  interactive,
		ask:   func(context.Context, string, map[string]any, any) error { return refuses },
	}
	if err := c.setMode(t.Context(), "plan"); err == nil || c.all().Mode != interactive {
		t.Errorf("refused: %v, mode %s", err, c.all().Mode)
	}
	refuses = agent.ErrDied
	if err := c.setMode(t.Context(), "plan"); err != nil || c.all().Mode != "plan" {
		t.Errorf("ended: %v, mode %s", err, c.all().Mode)
	}
	if err := c.switchTo(t.Context(), "m", "high", ""); err != nil || c.all().Effort != "high" {
		t.Errorf("%v, effort %q", err, c.all().Effort)
	}
	if c.may(autopilot) || c.onMode(modeChange{"plan"}) != nil ||
		c.onMode(modeChange{autopilot}) == nil {
		t.Error("a mode without asking may be chosen, or a change is not reported once")
	}
}
