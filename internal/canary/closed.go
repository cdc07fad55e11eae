package canary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Closed tries whether anything of a workspace runs without being asked about: in a
// folder made for that, full of everything that is known to, and below such a one.
// No model is called but one in this program, which wants a command run.
type Closed struct {
	// Sources are the paths in a workspace from which something could run.
	Sources []string
	// Plant makes a folder in which each source leaves a file in marks when it runs,
	// whose name begins with the source's, "/" being "_".
	Plant func(folder, marks string) error
	// Backend makes the backend, with the model at an address and a folder for its state.
	Backend func(model, state string) (agent.Backend, error)
}

// ClosedLimit bounds [Closed.Try].
const ClosedLimit = 90 * time.Second

// Try returns the sources from which something ran. The error says that it could not
// be tried.
func (c Closed) Try(ctx context.Context) (ran []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, ClosedLimit)
	defer cancel()
	dir, err := os.MkdirTemp("", "webchat-closed-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	model, err := newWilling(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.close()) }()
	b, err := c.Backend(model.url, filepath.Join(dir, "state"))
	if err != nil {
		return nil, err
	}
	marks := filepath.Join(dir, "marks")
	in, below := filepath.Join(dir, "in"), filepath.Join(dir, "above", "below")
	for _, d := range []string{marks, in, below} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	for _, planted := range []string{in, filepath.Dir(below)} {
		if err := c.Plant(planted, marks); err != nil {
			return nil, err
		}
	}
	for _, resume := range []bool{false, true} {
		for _, workspace := range []string{in, below} {
			err := askOnce(ctx, b, agent.Options{SessionID: filepath.Base(workspace), Workspace: workspace, Resume: resume})
			ran, unread := c.marked(marks)
			switch {
			case len(ran) > 0:
				return ran, nil
			case errors.Is(err, errUnasked):
				return []string{"a place that is not known"}, nil
			case err != nil || unread != nil:
				return nil, errors.Join(err, unread)
			}
		}
	}
	return nil, nil
}

var errUnasked = errors.New("a command was not asked about once")

// marked returns the sources that left a mark.
func (c Closed) marked(dir string) (ran []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range c.Sources {
		if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), strings.ReplaceAll(s, "/", "_")) }) {
			ran = append(ran, s)
		}
	}
	return ran, nil
}

// askOnce has the model want a command, and fails if that is not asked about.
func askOnce(ctx context.Context, b agent.Backend, o agent.Options) error {
	host := &refusing{}
	conn, err := b.Open(ctx, o, host)
	if err != nil {
		return err
	}
	err = conn.Prompt(ctx, agent.Prompt{MessageID: "m", Content: "run the command"})
	if err = errors.Join(err, conn.Close()); err == nil && host.asked() != 1 {
		err = errUnasked
	}
	return err
}

// refusing is a host that lets nothing happen, and counts what was asked.
type refusing struct {
	Mute
	mu sync.Mutex // guards n
	n  int
}

func (r *refusing) asked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// AskPermission implements [agent.Host].
func (r *refusing) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return agent.Verdict{Decision: event.Deny, Reason: "This is a test."}, nil
}

// RunTurn implements [agent.Host].
func (*refusing) RunTurn(context.Context, string, func(context.Context) error) error {
	return agent.ErrUnsupported
}

// RunHook implements [agent.Host].
func (*refusing) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	return agent.HookVerdict{Allow: true}, nil
}

// willing is a model on loopback that wants one command run in each session, and
// the tool lsp used, and then says that it is done.
type willing struct {
	url    string
	server *http.Server
	served chan error
}

func newWilling(ctx context.Context) (*willing, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen as a model: %w", err)
	}
	w := &willing{url: "http://" + l.Addr().String() + "/v1", served: make(chan error, 1)}
	w.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(answerWillingly)}
	go func() { w.served <- w.server.Serve(l) }()
	return w, nil
}

func (w *willing) close() error {
	err := w.server.Close()
	<-w.served // that it was closed
	return err
}

// answerWillingly speaks as much of the chat completions protocol as it needs.
func answerWillingly(w http.ResponseWriter, r *http.Request) {
	var request struct{ Messages []struct{ Role string } }
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, "not understood", http.StatusBadRequest)
		return
	}
	delta, finish := `{"role":"assistant","content":"Done."}`, "stop"
	if n := len(request.Messages); n > 0 && request.Messages[n-1].Role == "user" {
		finish = "tool_calls"
		delta = `{"role":"assistant","tool_calls":[` +
			`{"index":0,"id":"call_bash","type":"function","function":{"name":"bash","arguments":"{\"command\":\"true\",\"description\":\"try\"}"}},` +
			`{"index":1,"id":"call_lsp","type":"function","function":{"name":"lsp","arguments":"{\"operation\":\"documentSymbol\",\"file\":\"package.json\"}"}}]}`
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"none","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}` + "\n\n"
	_, _ = io.WriteString(w, fmt.Sprintf(chunk, delta, "null")+fmt.Sprintf(chunk, "{}", `"`+finish+`"`)+"data: [DONE]\n\n") // the CLI went away, or has it
}

// Mute is a host that lets nothing happen: for a conversation without a prompt.
type Mute struct{}

var errMute = errors.New("nothing happens here")

// Report implements [agent.Host].
func (Mute) Report(context.Context, event.Data) error { return nil }

// CallTool implements [agent.Host].
func (Mute) CallTool(context.Context, agent.ToolCall) (agent.Result, error) {
	return agent.Result{}, errMute
}

// AskPermission implements [agent.Host].
func (Mute) AskPermission(context.Context, agent.Permission) (agent.Verdict, error) {
	return agent.Verdict{}, errMute
}

// AskUser implements [agent.Host].
func (Mute) AskUser(context.Context, agent.Question) (agent.Answer, error) {
	return agent.Answer{}, errMute
}

// RunTurn implements [agent.Host].
func (Mute) RunTurn(context.Context, string, func(context.Context) error) error {
	return errMute
}

// RunHook implements [agent.Host].
func (Mute) RunHook(context.Context, agent.HookCall) (agent.HookVerdict, error) {
	return agent.HookVerdict{}, errMute
}
