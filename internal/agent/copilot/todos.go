package copilot

import (
	"cmp"

	"webchat/internal/agent/convo"
	"webchat/internal/event"
)

// todos reports the agent's list of what is to do. It belongs to the loop.
type todos struct {
	c     *convo.Conversation
	ask   asker
	reads convo.Again
}

// changed reads the list: its event reports only that it changed.
func (s *todos) changed() {
	s.reads.Run(s.c, func() {
		var list todoList
		if s.ask(s.c.Quit(), "session.plan.readSqlTodos", nil, &list) == nil {
			s.c.Post(func() { s.c.Report(event.SessionTodosChanged{Todos: list.events()}) })
		}
	})
}

// todoList is the agent's list of what is to do, as the CLI has it.
type todoList struct {
	Rows []struct {
		ID, Title, Description string
		Status                 string // pending, in_progress, done or blocked
	}
}

// events are the rows in the session's words. What is blocked is still to be done.
func (l todoList) events() []event.Todo {
	list := make([]event.Todo, 0, len(l.Rows))
	for _, r := range l.Rows {
		t := event.Todo{Text: cmp.Or(r.Title, r.Description, r.ID), Status: event.TodoPending}
		switch r.Status {
		case "in_progress":
			t.Status = event.TodoDoing
		case "done":
			t.Status = event.TodoDone
		case "blocked":
			t.Text += " (blocked)"
		}
		list = append(list, t)
	}
	return list
}
