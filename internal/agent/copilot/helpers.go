package copilot

import (
	"cmp"
	"slices"
	"strconv"

	"webchat/internal/agent/convo"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// helpers are the helper agents of a conversation, by the CLI's ids. They belong to the loop.
type helpers struct {
	calls map[string]string // our ids of the calls that started them
	work  map[string]*turn  // what those in the background do
}

// call returns our id of the call that started the helper agent of an event; empty for the main
// agent.
func (h *helpers) call(e cli.Event) string { return h.calls[e.AgentID] }

// of returns what an event belongs to: the work of a helper in the background, else main.
func (h *helpers) of(e cli.Event, main *turn) *turn {
	if w := h.work[e.AgentID]; w != nil && e.AgentID != "" {
		return w
	}
	return main
}

// nativeHelper is a helper agent, as all events about one have it.
type nativeHelper struct {
	ToolCallID, AgentID, AgentName, AgentDisplayName, AgentDescription, ExecutionMode, Error string
}

func (h nativeHelper) name() string { return cmp.Or(h.AgentDisplayName, h.AgentName) }

// starter returns the call that started the helper agent e is about, which main may have made, and
// the agent's id.
func (h *helpers) starter(e cli.Event, d nativeHelper, main *turn) (call, id string) {
	id = e.AgentID + d.AgentID
	if call = h.call(e); call == "" {
		for _, t := range append(h.turns(), main) {
			if t == nil {
				continue
			}
			if x := t.calls.Get(d.ToolCallID); x != nil {
				call = x.ID
				break
			}
		}
	}
	if id != "" && call != "" && h.calls[id] == "" {
		h.calls[id] = call
	}
	return call, id
}

// turns are what the helpers in the background do.
func (h *helpers) turns() (all []*turn) {
	for _, t := range h.work {
		if !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}

// begins has a helper's own helper work where that does, if it works in the background.
func (h *helpers) begins(id, call string) {
	for _, t := range h.work {
		if t.made(call) {
			h.work[id] = t
			return
		}
	}
}

// dismiss forgets a helper, and its own helpers.
func (h *helpers) dismiss(work *turn) {
	for id, w := range h.work {
		if w == work {
			delete(h.work, id)
		}
	}
}

// helperStarts takes the start of a helper; main is the running turn.
func (s *tasks) helperStarts(e cli.Event, h nativeHelper, main *turn) {
	call, id := s.helpers.starter(e, h, main)
	if call == "" {
		return
	}
	s.c.Report(event.SubagentStarted{ToolCallID: call, AgentName: h.name()})
	if h.ExecutionMode == "background" && id != "" {
		s.beginHelper(id, call, cmp.Or(h.AgentDescription, h.name()))
		return
	}
	s.helpers.begins(id, call)
}

func (s *tasks) helperChosen(e cli.Event, h nativeHelper, main *turn) {
	if call, _ := s.helpers.starter(e, h, main); call != "" {
		s.c.Report(event.SubagentSelected{ToolCallID: call, AgentName: h.name()})
	}
}

// beginHelper reports a helper agent that works in the background, and gives it a place of its own
// to work in.
func (s *tasks) beginHelper(agentID, call, title string) {
	if old := s.all[agentID]; old != nil && !old.Ended {
		return
	}
	b := &background{
		Task:   convo.Task{ID: call},
		native: agentID,
		scope:  newTurn(s.c.NewTurn(s.c.Quit()), string(event.NewID())),
	}
	for n := 2; s.began[b.ID]; n++ { // it was given more to do
		b.ID = call + "." + strconv.Itoa(n)
	}
	s.began[b.ID] = true
	b.scope.heard = true
	s.all[agentID], s.helpers.work[agentID] = b, b.scope
	b.Begin(s.c, event.AgentTask, title, call)
	s.c.Beside(func() { // Close waits for what still asks the session
		<-b.scope.Ctx.Done()
		s.c.Do(func() {
			b.scope.aborted = true
			s.helpers.dismiss(b.scope)
		})
		b.scope.Wait()
	})
}

// helperEnds takes the end of a helper, and of its task if it worked in the background.
func (s *tasks) helperEnds(e cli.Event, h nativeHelper, main *turn, how event.Outcome) {
	call, id := s.helpers.starter(e, h, main)
	switch {
	case call == "":
		return
	case how == event.Failed:
		s.c.Report(event.SubagentFailed{
			ToolCallID: call,
			AgentName:  h.name(),
			Error:      wording.Cut(h.Error, 300),
		})
	default:
		s.c.Report(event.SubagentCompleted{ToolCallID: call, AgentName: h.name()})
	}
	if b := s.all[id]; b != nil {
		s.end(b, how)
	}
	delete(s.helpers.work, id)
}
