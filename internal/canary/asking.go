package canary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"webchat/internal/agent"
	"webchat/internal/canary/scripted"
	"webchat/internal/event"
)

// Asking tries whether an agent asks before it writes a file, runs a command and reads `.env`: a
// model in this program has it do each, and each question is answered with no.
type Asking struct {
	// Backend makes the agent, with the model at an address and a folder for its state.
	Backend func(model, state string) (agent.Backend, error)
}

// Try returns what the agent did, and its version. An error means that it could not be tried.
func (a Asking) Try(ctx context.Context) (found agent.Asking, version string, err error) {
	err = inPlace(ctx, func(ctx context.Context, p place) (err error) {
		b, err := a.Backend(p.model.URL(), p.state)
		if err != nil {
			return err
		}
		host := &refusingHost{}
		conn, err := b.Open(ctx, agent.Options{SessionID: "canary", Workspace: p.workspace}, host)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		s := sitting{place: p, conn: conn, host: host}
		version = b.Info(ctx).Version
		found, err = s.all(ctx)
		return err
	})
	return found, version, err
}

// refusingHost is a host that allows nothing and counts what it is asked.
type refusingHost struct {
	Mute
	asked atomic.Int64
}

// AskPermission implements [agent.Host].
func (h *refusingHost) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	h.asked.Add(1)
	return agent.Verdict{Decision: event.Deny, Scope: event.Once, By: event.DecidedByMode}, nil
}

// sitting is a conversation in which an agent is tried.
type sitting struct {
	place
	conn agent.Conn
	host *refusingHost
}

// means are the tools of agents for one purpose, by name, with the arguments that each takes.
type means map[string]func(on string) map[string]any

// with is a tool that takes what it works on under a name, and other arguments.
func with(name string, other ...string) func(string) map[string]any {
	return func(on string) map[string]any {
		args := map[string]any{name: on}
		for i := 0; i+1 < len(other); i += 2 {
			args[other[i]] = other[i+1]
		}
		return args
	}
}

// What agents offered their models.
var (
	writers = means{"Write": with("file_path", "content", "new\n"), "write_file": with("file_path", "content", "new\n"),
		"write": with("filePath", "content", "new\n"), "create": with("path", "file_text", "new\n")}
	shells = means{"Bash": with("command", "description", "Try it"), "bash": with("command", "description", "Try it"),
		"exec_command": with("cmd"), "shell_command": with("command"),
		"run_shell_command": func(on string) map[string]any { return map[string]any{"command": on, "is_background": false} }}
	readers = means{"Read": with("file_path"), "read_file": with("file_path"), "read": with("filePath"), "view": with("path")}
)

// all has the agent do each of the three.
func (s *sitting) all(ctx context.Context) (found agent.Asking, err error) {
	if err := s.prompt(ctx); err != nil { // to know what it offers its model
		return found, err
	}
	command, env := secret(), secret()
	written, dotEnv := filepath.Join(s.workspace, "written.txt"), filepath.Join(s.workspace, ".env")
	if err := errors.Join(os.WriteFile(filepath.Join(s.workspace, "try.sh"), []byte("echo "+command+"\n"), 0o600),
		os.WriteFile(dotEnv, []byte("KEY="+env+"\n"), 0o600)); err != nil {
		return found, err
	}
	wrote := func() bool { _, err := os.Lstat(written); return err == nil }
	sent := func(text string) func() bool {
		return func() bool {
			return slices.ContainsFunc(s.model.Requests(), func(b []byte) bool { return bytes.Contains(b, []byte(text)) })
		}
	}
	writes, errWrites := s.each(ctx, writers, written, wrote)
	if len(writes) == 0 { // it writes by commands
		writes, errWrites = s.each(ctx, shells, "echo new > written.txt", wrote)
	}
	runs, errRuns := s.each(ctx, shells, "sh ./try.sh", sent(command))
	reads, errReads := s.each(ctx, readers, dotEnv, sent(env))
	more, errMore := s.each(ctx, shells, "cat .env", sent(env))
	found = agent.Asking{Writes: together(writes), Runs: together(runs), Reads: together(append(reads, more...))}
	return found, errors.Join(errWrites, errRuns, errReads, errMore)
}

// each has the agent use every tool of those that it offers, on something. did reports whether that
// came about.
func (s *sitting) each(ctx context.Context, of means, on string, did func() bool) (found []agent.Asked, err error) {
	for _, name := range s.model.Offered() {
		args := of[name]
		if args == nil {
			continue
		}
		text, err := json.Marshal(args(on))
		if err != nil {
			return found, err
		}
		s.model.Play(scripted.Step{Tool: name, Arguments: string(text)})
		before := s.host.asked.Load()
		if err := s.prompt(ctx); err != nil {
			return found, err
		}
		switch {
		case did():
			found = append(found, agent.AskedNo) // or in spite of the answer
		case s.host.asked.Load() > before:
			found = append(found, agent.AskedYes)
		default:
			found = append(found, agent.NotKnown)
		}
	}
	return found, nil
}

func (s *sitting) prompt(ctx context.Context) error {
	return s.conn.Prompt(ctx, agent.Prompt{MessageID: "m", Content: "Call the tool."})
}

// together is yes only if it asked each time.
func together(all []agent.Asked) agent.Asked {
	switch {
	case slices.Contains(all, agent.AskedNo):
		return agent.AskedNo
	case len(all) == 0 || slices.Contains(all, agent.NotKnown):
		return agent.NotKnown
	}
	return agent.AskedYes
}
