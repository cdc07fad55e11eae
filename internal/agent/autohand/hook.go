package autohand

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
)

// maxMoment bounds what a hook gets, in bytes.
const maxMoment = 64 << 20

// listener is where the command that is the CLI's hook hands over what it gets. Only this user
// can reach it.
type listener struct {
	net  net.Listener
	name string // of the socket
	done chan struct{}
}

// listen starts to answer hooks of c.
func listen(c *conn) (*listener, error) {
	dir, err := os.MkdirTemp("", "webchat-hook-") // names of sockets are short
	if err != nil {
		return nil, err
	}
	l := &listener{name: filepath.Join(dir, "s"), done: make(chan struct{})}
	if l.net, err = (&net.ListenConfig{}).Listen(context.Background(), "unix", l.name); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go c.Contained(func() {
		defer close(l.done)
		for {
			conn, err := l.net.Accept()
			if err != nil {
				return
			}
			c.answerHook(conn)
		}
	})()
	return l, nil
}

func (l *listener) close() {
	_ = l.net.Close() // it was open
	<-l.done
	_ = os.RemoveAll(filepath.Dir(l.name)) // it is in the folder for temporary files
}

// answerHook answers one hook in a goroutine of its own. The command refuses without an answer.
func (c *conn) answerHook(conn net.Conn) {
	t, ctx, done := c.Join(c.Life())
	if t == nil {
		_ = conn.Close()
		return
	}
	t.Spawn(func() {
		defer done()
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
		var m moment
		text, err := io.ReadAll(io.LimitReader(conn, maxMoment))
		if err != nil || json.Unmarshal(text, &m) != nil {
			return
		}
		out := answer{}
		switch m.Event {
		case "pre-tool":
			out = c.before(ctx, t, m)
		case "post-tool":
			c.after(ctx, t, m)
		}
		b, err := json.Marshal(out)
		if err == nil && ctx.Err() == nil {
			_, _ = conn.Write(b) // a command that went away needs none
		}
	})
}

// before decides about a call of the CLI's own: the user's hooks, and whether permission has to be
// asked for.
func (c *conn) before(ctx context.Context, t *convo.Turn, m moment) answer {
	if c.workspace.mine(m.Tool) {
		return answer{Decision: "allow"} // the session asks
	}
	k := c.hooked(t, m)
	switch {
	case k == nil:
		return answer{Decision: "deny", Reason: "No turn runs."}
	case k.silent:
		return c.question(ctx, k)
	}
	if slices.Contains(Excluded, m.Tool) { // settings in the workspace may have it offered again
		return answer{Decision: "deny", Reason: refusal(m.Tool)}
	}
	changed, err := c.Hooked(ctx, agent.HookCall{
		RequestID: k.ID,
		Event:     "before_tool",
		Tool:      k.Tool,
		Arguments: k.Args,
	})
	if err != nil {
		return answer{Decision: "deny", Reason: err.Error()}
	}
	act := c.rewritten(k, changed)
	if !free[m.Tool] || act.Kind == agent.KindShell { // a tool of the folder may have such a name
		// The CLI's own question could be switched off by settings in the workspace.
		if err := c.Permit(ctx, act); err != nil {
			return answer{Decision: "deny", Reason: err.Error()}
		}
	}
	c.Do(func() { k.allowed = true })
	return answer{Decision: "allow", UpdatedInput: changed}
}

// hooked begins the call that a hook is asked about; nil if the turn is over.
func (c *conn) hooked(t *convo.Turn, m moment) (k *call) {
	c.Do(func() {
		if c.Turn() != t {
			return
		}
		k = c.run.take(m.CallID, m.Tool, m.Input)
		k.hooked = true
		if k.silent = m.Tool == askUser; !k.silent {
			t.Begin(&k.Call)
		}
	})
	return k
}

// rewritten gives a call the arguments that the user's hooks made, and returns what it does. The
// CLI keeps those that the hooks left out.
func (c *conn) rewritten(k *call, args json.RawMessage) (act agent.Permission) {
	c.Do(func() {
		if args != nil {
			all := k.input()
			_ = json.Unmarshal(args, &all) // arguments that are not an object stay as they are
			k.Args, _ = json.Marshal(all)  // of valid JSON
		}
		act = c.workspace.act(k, permissionRequest{})
	})
	return act
}

// refusal is what the model reads of a tool that is never run.
func refusal(tool string) string {
	if tool == "read_file" {
		return "read_file is not available here. To show a file to the user, call " + lentPrefix +
			"render_file_contents; to look for something, search."
	}
	return tool + " is not available here."
}

// question puts the CLI's question to the user. The CLI has no way to answer it, so the call is
// refused with the answer as its reason, which the model reads.
func (c *conn) question(ctx context.Context, k *call) answer {
	in := k.input()
	choices, _ := in.texts("suggested_answers")
	a, err := c.Host.AskUser(ctx, agent.Question{
		ToolCallID:    k.ID,
		Question:      cmp.Or(in.text("question"), "What do you want?"),
		Choices:       choices,
		AllowFreeform: true,
	})
	if err != nil || !a.Answered {
		return answer{Decision: "deny", Reason: "The user gave no answer."}
	}
	return answer{Decision: "deny", Reason: "This is not a refusal. The user answered: " + a.Text}
}

// after reports the result of a call to the user's hooks. Of calls of helper agents nothing else
// is reported.
func (c *conn) after(ctx context.Context, t *convo.Turn, m moment) {
	if c.workspace.mine(m.Tool) {
		return
	}
	var k *call
	c.Do(func() {
		if k = c.run.Get(m.CallID); k != nil && c.Turn() == t && !k.ran && m.Success != nil {
			k.after = &hookEnd{*m.Success, clean(text(m.Response))}
			t.Spawn(func() { c.unreported(t, k) })
		}
	})
	if k == nil {
		return
	}
	result, err := json.Marshal(clean(text(m.Response)))
	if err != nil {
		return
	}
	if _, err := c.Host.RunHook(ctx, agent.HookCall{
		RequestID: k.ID,
		Event:     "after_tool",
		Tool:      k.Tool,
		Arguments: k.Args,
		Result:    result,
	}); err != nil {
		c.Logger.Debug("the hooks were not run after a call", "error", err)
	}
}

// unreported reports the end of a call of which nothing but a hook reports. A hook may be faster
// than what the CLI wrote before it: an answer of the CLI's comes after that.
func (c *conn) unreported(t *convo.Turn, k *call) {
	_ = t.Program().Call(t.Ctx, "autohand.getState", nil, nil) // any answer will do
	c.Do(func() {
		if c.Turn() == t {
			c.endByHook(t, k)
		}
	})
}

// endByHook logs the end of a call that only a hook reported.
func (c *conn) endByHook(t *convo.Turn, k *call) {
	if k.after != nil && !k.ran {
		c.outcome(t, k, k.after.success, k.after.output, "", "")
	}
	k.after = nil
}

// Forward hands what the CLI gives its hook to the conversation that listens at a socket, and
// prints its answer. The error is why the CLI gets none: its caller must end with status 2, which
// refuses the call.
func Forward(socket string, in io.Reader, out io.Writer) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return errors.New("webchat does not answer, so nothing was done")
	}
	defer conn.Close()
	if _, err := io.Copy(conn, in); err != nil {
		return fmt.Errorf("webchat could not be asked: %w", err)
	}
	if half, ok := conn.(*net.UnixConn); ok {
		if err := half.CloseWrite(); err != nil {
			return fmt.Errorf("webchat could not be asked: %w", err)
		}
	}
	b, err := io.ReadAll(conn)
	if err != nil || len(b) == 0 {
		return errors.New("webchat does not answer, so nothing was done")
	}
	_, err = out.Write(b)
	return err
}
