package session

import "webchat/internal/event"

// complainer takes reports of faults: a test, or one run of a model.
type complainer interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkLog checks what every log promises. whole: nothing may be open at its end.
func checkLog(t complainer, entries []event.Entry, whole bool) {
	t.Helper()
	var (
		parent           event.ID
		turn             string
		tools            = map[string]int{} // 1 started, 2 complete
		agents           = map[string]bool{}
		requests, held   = map[string]int{}, map[string]bool{}
		messages, turned = map[string]bool{}, map[string]int{}
		parents          = map[string]string{} // of calls
		tasks            = map[string]string{} // those that run, by their calls
	)
	beside := func(call string) bool {
		for ; call != ""; call = parents[call] {
			if tasks[call] != "" {
				return true
			}
		}
		return false
	}
	for i, e := range entries {
		if e.Seq != int64(i+1) || e.Event.ParentID != parent || e.Event.Ephemeral {
			t.Errorf("entry %d: sequence %d, parent %q after %q", i, e.Seq, e.Event.ParentID, parent)
		}
		parent = e.Event.ID
		switch d := e.Event.Data.(type) {
		case event.UserMessage:
			messages[d.MessageID] = true
		case event.UserMessageWithdrawn:
			if !messages[d.MessageID] || turned[d.MessageID] > 0 {
				t.Errorf("%d: message %s is taken back and did not wait", e.Seq, d.MessageID)
			}
			delete(messages, d.MessageID)
		case event.TurnStart:
			if turn != "" || !d.Own() && !messages[d.MessageID] {
				t.Errorf("%d: turn %s of message %s starts inside %s", e.Seq, d.TurnID, d.MessageID, turn)
			}
			turn = d.TurnID
			turned[d.MessageID]++
		case event.TurnEnd:
			if turn != d.TurnID {
				t.Errorf("%d: turn %s ends inside %q", e.Seq, d.TurnID, turn)
			}
			turn = ""
			for _, id := range d.Steered {
				turned[id]++
			}
			for id, n := range tools {
				if n == 1 && agents[id] && !beside(parents[id]) {
					t.Errorf("%d: the turn ended before tool %s", e.Seq, id)
				}
			}
		case event.ToolExecutionStart:
			tools[d.ToolCallID]++
			agents[d.ToolCallID], parents[d.ToolCallID] = d.By == event.ByAgent, d.ParentToolCallID
			if agents[d.ToolCallID] && turn == "" && !beside(d.ParentToolCallID) {
				t.Errorf("%d: an agent's tool outside a turn", e.Seq)
			}
		case event.ToolExecutionComplete:
			if tools[d.ToolCallID]++; tools[d.ToolCallID] != 2 {
				t.Errorf("%d: tool %s completes with %d", e.Seq, d.ToolCallID, tools[d.ToolCallID])
			}
		case event.TaskStarted:
			tasks[d.ToolCallID] = d.TaskID
		case event.TaskCompleted:
			found := false
			for call, id := range tasks {
				if id == d.TaskID {
					found = true
					delete(tasks, call)
				}
			}
			if !found {
				t.Errorf("%d: task %s completes and does not run", e.Seq, d.TaskID)
			}
		case event.PermissionRequested:
			requests[d.RequestID]++
			held[d.RequestID] = d.Kind == event.KindLater // which waits for the user
		case event.UserInputRequested:
			requests[d.RequestID]++
		case event.PermissionCompleted:
			if requests[d.RequestID]++; requests[d.RequestID] != 2 {
				t.Errorf("%d: request %s completes with %d", e.Seq, d.RequestID, requests[d.RequestID])
			}
		case event.UserInputCompleted:
			if requests[d.RequestID]++; requests[d.RequestID] != 2 {
				t.Errorf("%d: request %s completes with %d", e.Seq, d.RequestID, requests[d.RequestID])
			}
		}
	}
	if !whole {
		return
	}
	if turn != "" {
		t.Errorf("turn %s is open", turn)
	}
	for id, n := range tools {
		if n != 2 {
			t.Errorf("tool %s is open", id)
		}
	}
	for id, n := range requests {
		if n != 2 && !held[id] {
			t.Errorf("request %s is open", id)
		}
	}
	if len(tasks) > 0 {
		t.Errorf("tasks are open: %v", tasks)
	}
	for id := range messages {
		if turned[id] > 1 { // what waits has none
			t.Errorf("message %s had %d turns", id, turned[id])
		}
	}
}
