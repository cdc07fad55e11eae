package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// toy is a backend that obeys, but for its one fault.
type toy struct {
	fault   string
	release chan struct{} // lets what hangs on purpose go
	offered []string
	n       atomic.Int64 // ids: unique in a session, which may be resumed
}

func newToy(t testing.TB, fault string) (*toy, Options) {
	b := &toy{fault: fault, release: make(chan struct{})}
	t.Cleanup(func() { close(b.release) })
	return b, Options{
		Show:       func(path string) string { return "show " + path },
		Run:        func(command string) string { return "run " + command },
		Answer:     "hello",
		Talk:       "talk",
		Ask:        "ask",
		Write:      func(path string) string { return "write " + path },
		WriteTwo:   func(one, other string) string { return "write " + one + " " + other },
		Search:     func(text, folder string) string { return "search " + text + " " + folder },
		Forge:      func(tool string) string { return "forge " + tool },
		Background: func(command string) string { return "leave " + command },
		Stray:      "stray",
		Die:        "die",
		Offered:    func(testing.TB) []string { return b.offered },
	}
}

func (b *toy) Name() string {
	if b.fault == "bad name" {
		return "Toy Backend"
	}
	return "toy"
}

func (b *toy) Info(context.Context) agent.Info {
	i := agent.Info{
		Available: b.fault != "unavailable",
		Intercept: agent.InterceptAll,
		CanResume: b.fault != "resume denied",
	}
	if b.fault == "bad intercept" {
		i.Intercept = "some"
	}
	return i
}

func (b *toy) Models(context.Context) ([]agent.Model, error) {
	if b.fault == "bad model" {
		return []agent.Model{{Name: "x"}}, nil
	}
	return []agent.Model{{ID: "m", Name: "M"}}, nil
}

func (b *toy) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	if b.fault == "resume broken" && o.Resume {
		return nil, agent.ErrUnsupported
	}
	b.offered = nil
	for _, t := range o.Tools {
		b.offered = append(b.offered, t.Name)
	}
	switch b.fault {
	case "offers view":
		b.offered = append(b.offered, "view")
	case "offers too little":
		b.offered = b.offered[1:]
	}
	c := &toyConn{toy: b, host: h, life: make(chan struct{})}
	if b.fault == "leaks" {
		go func() { <-b.release }()
	}
	return c, nil
}

type toyConn struct {
	*toy
	host agent.Host

	mu      sync.Mutex // guards closed and dead
	closed  bool
	dead    bool
	life    chan struct{}
	turns   sync.WaitGroup
	tasks   map[string]func(event.Outcome) // guarded by mu
	mode    string                         // guarded by mu
	cleared int                            // guarded by mu
}

func (c *toyConn) Choices() agent.Choices {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := agent.Choices{Mode: c.mode, Modes: []agent.Mode{{ID: "ask", Name: "Ask"},
		{ID: "plan", Name: "Plan"}, {ID: "wild", Name: "Wild", Unasked: true}},
		Efforts: []agent.Effort{{ID: "high", Name: "High"}}, Commands: []agent.Command{{Name: "compact"}},
		Can: []agent.Ability{agent.CanCompact, agent.CanClear, agent.CanContext, agent.CanInstructions,
			agent.CanSkills}}
	switch c.fault {
	case "nameless mode":
		all.Modes[0].Name = ""
	case "strange mode":
		all.Mode = "other"
	case "slashed command":
		all.Commands[0].Name = "/compact"
	}
	return all
}

func (c *toyConn) SetMode(_ context.Context, id string) error {
	if id == "wild" && c.fault != "stops asking" || id == "no-such-mode" &&
		c.fault != "takes any mode" {
		return agent.ErrUnsupported
	}
	if c.fault == "tells a choice" {
		_ = c.host.Report(context.Background(), event.SessionModeChanged{Mode: id})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != "keeps its mode" {
		c.mode = id
	}
	return nil
}

func (c *toyConn) SetEffort(_ context.Context, id string) error {
	if id != "high" {
		return agent.ErrUnsupported
	}
	return nil
}

// startTask starts a task.
func (c *toyConn) leave(ctx context.Context, title string) error {
	if c.fault == "task without a title" {
		title = ""
	}
	id := c.id()
	if err := c.host.Report(ctx, event.TaskStarted{
		TaskID: id,
		Kind:   event.ShellTask,
		Title:  title,
	}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tasks == nil {
		c.tasks = map[string]func(event.Outcome){}
	}
	c.tasks[id] = func(how event.Outcome) {
		_ = c.host.Report(context.Background(), event.TaskCompleted{TaskID: id, Outcome: how})
	}
	return nil
}

func (c *toyConn) AbortTask(_ context.Context, id string) error {
	c.mu.Lock()
	end := c.tasks[id]
	delete(c.tasks, id)
	c.mu.Unlock()
	if end != nil {
		end(event.Aborted)
	}
	return nil
}

// endTasks ends all.
func (c *toyConn) endTasks(how event.Outcome) {
	c.mu.Lock()
	all := c.tasks
	c.tasks = nil
	c.mu.Unlock()
	for _, end := range all {
		end(how)
	}
}

func (c *toyConn) id() string { return fmt.Sprintf("id%d", c.n.Add(1)) }

func (c *toyConn) Prompt(ctx context.Context, p agent.Prompt) error {
	c.mu.Lock()
	if c.closed || c.dead {
		c.mu.Unlock()
		if c.fault == "prompt after close" {
			return nil
		}
		return errors.New("closed")
	}
	c.turns.Add(1)
	c.mu.Unlock()
	defer c.turns.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	c.turns.Go(func() {
		select {
		case <-c.life:
			cancel()
		case <-stop:
		}
	})
	err := c.broken(func() error { return c.turn(ctx, p.Content) })
	switch {
	case c.fault == "dies of a file" && len(p.Attachments) > 0:
		err = fmt.Errorf("%w: of a file", agent.ErrDied)
	case p.Content == "die" && c.fault == "dies unsaid":
		err = agent.ErrDied
	case p.Content == "die" && c.fault != "hides its death":
		err = fmt.Errorf("%w: out of memory", agent.ErrDied)
	}
	if c.fault == "late report" {
		c.turns.Go(func() {
			_ = c.host.(*Host).Wait(context.Background(), func(h *Host) bool { return !h.isPrompting() })
			_ = c.host.Report(context.Background(), event.AssistantTurnStart{TurnID: "late"})
		})
	}
	if ctx.Err() != nil {
		if c.fault == "stop ends tasks" {
			c.endTasks(event.Aborted)
		}
		c.mu.Lock()
		c.dead = c.fault == "dead after abort"
		c.mu.Unlock()
		// the latter's turn may be aborted just before it ends
		if c.fault == "hides abort" || c.fault == "does not talk" {
			return nil
		}
		if c.fault == "hangs on abort" {
			<-c.release
		}
		return ctx.Err()
	}
	return err
}

// broken calls f and treats a panic as the fault says.
func (c *toyConn) broken(f func() error) (err error) {
	defer func() {
		if !strings.HasSuffix(c.fault, "a panic") {
			return
		}
		switch p := recover(); {
		case p != nil && c.fault == "repeats a panic":
			err = fmt.Errorf("%w: %v", agent.ErrDied, p)
		case p != nil && c.fault == "hangs on a panic":
			<-c.release
		}
	}()
	return f()
}

func (h *Host) isPrompting() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.prompting
}

func (h *Host) isClosed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

func (c *toyConn) Steer(context.Context, agent.Prompt) error {
	if c.fault == "steer fails" {
		return errors.New("cannot")
	}
	return agent.ErrUnsupported
}

// Rewind implements [agent.Rewinder].
func (c *toyConn) Rewind(context.Context, string) error {
	switch c.fault {
	case "does not go back":
		return agent.ErrUnsupported
	case "dead after going back":
		c.mu.Lock()
		c.dead = true
		c.mu.Unlock()
	}
	return nil
}

func (c *toyConn) SetModel(context.Context, string) error { return nil }
func (c *toyConn) SetTitle(context.Context, string) error { return nil }

func (c *toyConn) Close() error {
	c.mu.Lock()
	again := c.closed
	c.closed = true
	if !again {
		close(c.life)
	}
	c.mu.Unlock()
	if again && c.fault == "close once" {
		return errors.New("closed already")
	}
	if c.fault == "close hangs" {
		<-c.release
	}
	c.turns.Wait()
	if c.fault != "keeps tasks" {
		c.endTasks(event.Interrupted)
	}
	if c.fault == "host after close" {
		go func() {
			h := c.host.(*Host)
			_ = h.Wait(context.Background(), func(h *Host) bool { return h.isClosed() })
			_ = h.Report(context.Background(), event.SessionError{Message: "late"})
		}()
	}
	return nil
}
