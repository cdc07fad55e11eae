package page

import (
	"cmp"
	"slices"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Plan is what the dock shows of the agent's plan, until all of it is done.
type Plan struct{ Todos []event.Todo }

// Open reports whether something of it is left to do.
func (p Plan) Open() bool {
	return slices.ContainsFunc(p.Todos, func(t event.Todo) bool { return t.Status != event.TodoDone })
}

// Head says how far it is.
func (p Plan) Head() string {
	done := 0
	for _, t := range p.Todos {
		if t.Status == event.TodoDone {
			done++
		}
	}
	return "Plan: " + wording.Count(done) + " of " + wording.Count(len(p.Todos)) + " done"
}

// Now is what the agent does.
func (p Plan) Now() string {
	for _, t := range p.Todos {
		if t.Status == event.TodoDoing {
			return wording.Plain(t.Text)
		}
	}
	return ""
}

// Lines are its entries.
func (p Plan) Lines() []planLine {
	lines := make([]planLine, 0, len(p.Todos))
	for _, t := range p.Todos {
		lines = append(lines, planLine{Text: wording.Plain(t.Text), Status: t.Status, Word: map[event.TodoStatus]string{
			event.TodoDone: "done", event.TodoDoing: "doing"}[t.Status]})
	}
	return lines
}

// planLine is one entry of a plan.
type planLine struct {
	Text   string
	Status event.TodoStatus
	Word   string // for those who do not see marks; empty: to do
}

func (f *State) todosChanged(d event.SessionTodosChanged) {
	f.todos = d.Todos
	f.batch.part(nil, "dock-plan", "plan", func() any { return Plan{f.todos} })
}

// modeChanged says in which mode the agent works from here.
func (f *State) modeChanged(d event.SessionModeChanged) {
	switch name := cmp.Or(wording.Plain(d.Name), wording.Plain(d.Mode)); {
	case name == "":
		f.note("", "chip", "From here the agent works in its first mode again")
	case d.Unasked:
		f.note("is-ask", "chip", "From here the agent works in the mode "+name+", in which it acts without asking you")
	default:
		f.note("", "chip", "From here the agent works in the mode "+name)
	}
}

// modelChanged says who answers from here, or how hard it thinks.
func (f *State) modelChanged(d event.SessionModelChange) {
	if d.NewModel != f.Model || d.Effort == f.effort {
		f.setBackend(f.Backend, d.NewModel)
		f.note("", "chip", "From here "+f.Answers()+" answers")
	} else {
		f.note("", "chip", "From here "+f.Answers()+" thinks as hard as "+cmp.Or(wording.Plain(d.Effort), "it does by itself"))
	}
	f.effort = d.Effort
}
