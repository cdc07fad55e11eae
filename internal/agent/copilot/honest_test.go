package copilot_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/agent/copilot"
	"webchat/internal/agent/copilot/cli"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/displaytools"
	"webchat/internal/e2e/standin"
	"webchat/internal/event"
	"webchat/internal/outputs"
	"webchat/internal/released"
	"webchat/internal/session"
	"webchat/internal/sessions"
	"webchat/internal/tokens"
)

// TestRealHonesty is what the product is for, on the real CLI: what is shown
// never reaches the model, nor does the id of an output; view is never offered;
// a display turn costs two calls; and the ledger says what the requests hold.
func TestRealHonesty(t *testing.T) {
	const canary = "canary4f81c09b77d2"
	h := newHouse(t, nil)
	content := strings.Repeat("a line with "+canary+" in it\n", 200)
	write(t, filepath.Join(h.dir, "secret.txt"), []byte(content))
	s := h.session()
	var ids []string
	for i, prompt := range []string{"show secret.txt", "run cat secret.txt",
		"show secret.txt secret.txt"} {
		before := len(h.model.Requests())
		r := h.ask(s, prompt)
		if r.Error != "" || len(r.Outputs) != 1+i/2 {
			t.Fatalf("%s: %+v", prompt, r)
		}
		if n := len(h.model.Requests()) - before; n != 2 {
			t.Errorf("%s: the model was called %d times, not twice", prompt, n)
		}
		for _, o := range r.Outputs {
			ids = append(ids, o.ID)
			out, err := h.outputs.Get(outputs.ID(o.ID))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := out.CopyLines(t.Context(), &got, 0, 0); err != nil || got.String() != content {
				t.Errorf("%s: the user sees %d bytes (%v), not the %d of the file", prompt, got.Len(), err,
					len(content))
			}
		}
	}
	var definitions int64
	for i, r := range h.model.Requests() {
		if bytes.Contains(r.Body, []byte(canary)) {
			t.Errorf("request %d holds what was shown", i)
		}
		for _, id := range ids {
			if bytes.Contains(r.Body, []byte(id)) {
				t.Errorf("request %d holds the id of an output", i)
			}
		}
		if slices.Contains(r.Offered(), "view") {
			t.Errorf("request %d offers view", i)
		}
		definitions += definitionsIn(t, r)
	}
	sum := s.Summary()
	if sum.Usage.DefinitionTokens != definitions || definitions == 0 {
		t.Errorf("the ledger says that the definitions cost %d tokens, the requests hold %d",
			sum.Usage.DefinitionTokens, definitions)
	}
	shown, _ := tokens.Count(content)
	if sum.Tokens.Shown != int64(4*shown) {
		t.Errorf("the ledger says %d tokens were shown, the contents have 4 times %d", sum.Tokens.Shown,
			shown)
	}
	if sent := confirmationsIn(h.model.Requests()); sum.Tokens.Sent != sent {
		t.Errorf("the ledger says %d tokens were sent instead, the requests hold %d", sum.Tokens.Sent,
			sent)
	}
}

// definitionsIn counts what a request says of our tools.
func definitionsIn(t *testing.T, r copilottest.Request) (n int64) {
	t.Helper()
	count := func(s string) {
		k, _ := tokens.Count(s)
		n += int64(k)
	}
	if guide := copilot.Guide; strings.Contains(r.Messages[0].Content, guide) {
		count(guide)
	}
	for _, tool := range r.Tools {
		if slices.Contains([]string{displaytools.RenderFile, displaytools.RunCommand,
			displaytools.DisplayImage, released.ReadOutput, released.SearchOutput}, tool.Name) {
			count(tool.Name + "\n" + tool.Description + "\n" + string(tool.Parameters))
		}
	}
	return n
}

// confirmationsIn counts the results of tools in the last request, which holds
// the whole conversation.
func confirmationsIn(all []copilottest.Request) (n int64) {
	for _, m := range all[len(all)-1].Messages {
		if m.Role == "tool" {
			k, _ := tokens.Count(m.Content)
			n += int64(k)
		}
	}
	return n
}

// TestRealKilled: kill -9 in the middle of a command. The card says so, nothing
// of the tree is left, and both sessions go on with what they remember.
func TestRealKilled(t *testing.T) {
	h := newHouse(t, alone)
	sess, other := h.session(), h.session()
	h.ask(other, "remember the word ultramarine")
	pids := filepath.Join(h.dir, "pids")
	id, err := sess.Send(t.Context(),
		session.Message{Content: `call bash {"command":"echo $PPID $$ > pids; sleep 600","description":"wait"}`})
	if err != nil {
		t.Fatal(err)
	}
	var parent, shell int
	until(t, "the command", func() bool {
		b, err := os.ReadFile(pids)
		return err == nil && fields(string(b), &parent, &shell)
	})
	cli := copilot.PID(h.backend)
	kill(t, cli)
	r, err := sess.WaitTurn(t.Context(), id)
	if err != nil || !strings.Contains(r.Error, "was killed (SIGKILL)") {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, "the end of the tree", func() bool { return gone(cli) && gone(shell) && gone(parent) })
	for _, s := range []*session.Session{other, sess} {
		if r := h.ask(s, "hello again"); r.Error != "" || !strings.Contains(r.Content, "hello again") {
			t.Errorf("after the restart: %+v", r)
		}
	}
	all := h.model.Requests()
	if last := all[len(all)-2]; !bytes.Contains(last.Body, []byte("ultramarine")) {
		t.Error("the other session forgot what was said before")
	}
}

// TestRealServer: servers of the user's, over stdio, HTTP and SSE, are offered, asked
// about and called; one that does not start is reported and does no harm.
func TestRealServer(t *testing.T) {
	remote := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(remote, &mcp.Tool{Name: "echo", Description: "Echoes a text."},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "far away: " +
				in.Text}}}, nil, nil
		})
	at := func(h http.Handler) string {
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		t.Cleanup(web.CloseClientConnections) // before that
		return web.URL
	}
	of := func(*http.Request) *mcp.Server { return remote }
	me := standin.Program(t)
	servers := map[string]agent.MCPServer{
		"echo": {Type: "stdio", Command: me, Env: map[string]string{"COPILOT_TEST_ROLE": "mcp",
			"ECHO_MARK": "from the server"}},
		"bad": {Type: "stdio", Command: filepath.Join(t.TempDir(), "nothing")},
		"web": {Type: "http", URL: at(mcp.NewStreamableHTTPHandler(of, nil))},
		"sse": {Type: "sse", URL: at(mcp.NewSSEHandler(of, nil))},
	}
	h := newHouse(t, nil) // it ends before they do
	h.stop()
	h.servers = servers
	h.start()
	s := h.session()
	if r := h.ask(s, `call echo-echo {"text":"hello"}`); !strings.Contains(r.Content,
		"echo: hello from the server") {
		t.Errorf("%+v", r)
	}
	for _, server := range []string{"web", "sse"} {
		if r := h.ask(s, `call `+server+`-echo {"text":"hello"}`); !strings.Contains(r.Content,
			"far away: hello") {
			t.Errorf("over %s: %+v", server, r)
		}
	}
	entries, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	asked, told := false, false
	for _, e := range entries {
		switch d := e.Event.Data.(type) {
		case event.PermissionRequested:
			asked = asked || d.Kind == "mcp" && d.Resource == `echo {"text":"hello"}`
		case event.SessionError:
			told = told || d.ErrorType == "warning" && strings.Contains(d.Message, "bad")
		}
	}
	if !asked || !told {
		t.Errorf("asked %v, told %v", asked, told)
	}
}

// TestRealRefusals: what the real CLI makes of a provider that refuses; each
// session stays usable.
func TestRealRefusals(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	for prompt, words := range map[string]string{"status 400": "400",
		"status 401": "Correct the provider's key"} {
		if r := h.ask(s, prompt); !strings.Contains(r.Error, words) {
			t.Errorf("%s: %+v", prompt, r)
		}
	}
	cuts := 0
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if !strings.Contains(r.Prompt(), "cut once") || cuts > 0 {
			return nil
		}
		cuts++
		return &copilottest.Reply{Text: "Half an answer", Cut: true}
	})
	if r := h.ask(s, "say cut once"); r.Error != "" || r.Content != "You said: say cut once" {
		t.Errorf("a stream that was cut: %+v", r)
	}
	if r := h.ask(s, "hello"); r.Error != "" {
		t.Errorf("afterwards: %+v", r)
	}
}

// TestRealWatch: the CLI's own reports show a text that reached the model, and
// only such a text.
func TestRealWatch(t *testing.T) {
	const canary = "canary90ab12cd34ef"
	w := cli.NewWatch(canary)
	h := newHouse(t, func(c *copilot.Config) { c.Watch = w })
	write(t, filepath.Join(h.dir, "c.txt"), []byte(canary+"\n"))
	s, before := h.session(), 0
	for _, c := range []struct {
		prompt string
		leaks  bool
	}{{"show c.txt", false}, {`call bash {"command":"cat c.txt","description":"read"}`, true}} {
		h.ask(s, c.prompt)
		n, found := w.Seen()
		if n == before || found != c.leaks {
			t.Errorf("%s: %d more reports, found %v", c.prompt, n-before, found)
		}
		before = n
	}
}

// TestRealForget: what the CLI keeps of a session is gone when the session is
// forgotten.
func TestRealForget(t *testing.T) {
	h := newHouse(t, nil)
	s := h.session()
	h.ask(s, "hello")
	kept := filepath.Join(copilot.Home(h.backend), "session-state", copilot.NativeID(string(s.ID())))
	if _, err := os.Stat(kept); err != nil {
		t.Fatal(err)
	}
	other := h.session()
	h.ask(other, "hello") // the process runs on
	if err := h.manager.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	until(t, "the conversation's end", func() bool {
		return h.backend.Forget(t.Context(), string(s.ID())) == nil
	})
	if _, err := os.Stat(kept); err == nil {
		t.Errorf("%s is still there", kept)
	}
}

// TestRealHooks: a hook's veto reaches the CLI's own tools.
func TestRealHooks(t *testing.T) {
	model := copilottest.New(t)
	k := hooked(t, sharing(t, real(t, model)))
	mark := filepath.Join(t.TempDir(), "mark")
	if err := k.say(`call bash {"command":"touch ` + mark +
		`","description":"leave a mark"}`); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command ran, although a hook said no")
	}
	if said := strings.Join(k.host.Said(), "\n"); !strings.Contains(said, "not on my watch") {
		t.Errorf("the model was not told why: %q", said)
	}
}

// TestRealProviders: several providers at once, each asked with its own key and
// for its own models, before and after a change; pictures reach the model.
func TestRealProviders(t *testing.T) {
	small, large := copilottest.New(t), copilottest.New(t)
	h := newHouse(t, func(c *copilot.Config) {
		c.Providers = []copilot.Provider{
			{Name: "acme", URL: small.URL(), Key: "key-a", Models: []copilot.ProviderModel{{ID: "small"}}},
			{
				Name:   "beta",
				URL:    large.URL(),
				Key:    "key-b",
				Models: []copilot.ProviderModel{{ID: "large"}, {ID: "huge"}},
			},
		}
	})
	s := h.session()
	if r := h.ask(s, "hello"); r.Error != "" || s.Summary().Model != "acme/small" {
		t.Fatalf("%+v, model %s", r, s.Summary().Model)
	}
	model := "beta/huge"
	if _, err := h.manager.Update(t.Context(), s.ID(), sessions.Patch{Model: &model}); err != nil {
		t.Fatal(err)
	}
	if r := h.ask(s, "hello again"); r.Error != "" || s.Summary().Model != model {
		t.Fatalf("%+v, model %s", r, s.Summary().Model)
	}
	for m, want := range map[*copilottest.Model][3]string{
		small: {"small", "Bearer key-a", "hello"},
		large: {"huge", "Bearer key-b", "hello again"},
	} {
		all := m.Requests()
		if len(all) != 1 || all[0].Model != want[0] || all[0].Header.Get("Authorization") != want[1] ||
			all[0].Prompt() != want[2] {
			t.Errorf("%d requests, want one for %q", len(all), want)
		}
	}
	k := open(t, h.backend, fresh("pictures"), false)
	err := k.prompt(t.Context(), agent.Prompt{
		Content:     "what is this",
		Attachments: []agent.Attachment{{Name: "dot.png", MimeType: "image/png", Data: dot(t)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	last := small.Requests()[len(small.Requests())-1]
	if !slices.ContainsFunc(last.Messages, func(m copilottest.Message) bool {
		return slices.Contains(m.Parts, "image_url")
	}) {
		t.Error("the picture did not reach the model")
	}
}

// 3.0 is 3; and a call whose arguments are no object is in the log
// as one that failed.
func TestRealArguments(t *testing.T) {
	h := newHouse(t, nil)
	if err := os.WriteFile(filepath.Join(h.dir, "a.txt"), []byte("one\ntwo\nthree\nfour\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	s := h.session()
	if r := h.ask(s, `call render_file_contents {"path":"a.txt","startLine":3.0}`); len(
		r.Outputs) != 1 {
		t.Errorf("startLine 3.0: %+v", r)
	}
	for _, arguments := range []string{"null", "[1,2]", "5"} {
		h.ask(s, "call render_file_contents "+arguments)
	}
	entries, err := s.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var started, failed []string
	for _, e := range entries {
		switch d := e.Event.Data.(type) {
		case event.ToolExecutionStart:
			started = append(started, d.ToolName+" "+string(d.Arguments))
		case event.ToolExecutionComplete:
			if !d.Success {
				failed = append(failed, d.Error.Message)
			}
		}
	}
	if len(started) != 4 || len(failed) != 3 || started[1] != "render_file_contents null" {
		t.Errorf("the log has the calls %q, of which failed %q", started, failed)
	}
}

// Tries of the provider are seen while they last, each once, and can be stopped; where it is not
// tried again that is only said to be possible.
func TestRealRetriesAreSeen(t *testing.T) {
	h := newHouse(t, nil)
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if r.Prompt() == "an hour" {
			return &copilottest.Reply{Status: 429, After: 3600}
		}
		return nil
	})
	s := h.session()
	tries := func(status int) (seen []string) {
		for _, d := range h.sofar(s) {
			if e, ok := d.(event.SessionError); ok && e.Kind == event.KindRetrying &&
				e.StatusCode == status {
				seen = append(seen, e.Message)
			}
		}
		return seen
	}
	if r := h.ask(s, "an hour"); !strings.Contains(r.Error, "wait a little") ||
		strings.Contains(strings.Join(tries(429), ""), "Trying again") {
		t.Errorf("of a provider that wants a wait of an hour: %q, error %q", tries(429), r.Error)
	}
	id, err := s.Send(t.Context(), session.Message{Content: "status 500"})
	if err != nil {
		t.Fatal(err)
	}
	h.until("the second wait", func() bool { return len(tries(500)) == 2 })
	const answered = "The provider answered 500: scripted refusal 500. "
	if diff := cmp.Diff([]string{answered + "It may be tried again, 1 of 5.",
		answered + "It may be tried again, 2 of 5."}, tries(500)); diff != "" {
		t.Errorf("retries -want +got:\n%s", diff)
	}
	if err := s.Abort(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if r, err := s.WaitTurn(t.Context(), id); err != nil || r.Outcome != event.Aborted {
		t.Errorf("stopped: %+v, %v", r, err)
	}
}

// A prompt that waits for the provider is tried at once when it is stopped and sent again: the CLI
// does not sit out the wait, nor make the call that it waited with, and a prompt that waits in the
// queue goes behind it. The page's "Try now" does this.
func TestRealTryNow(t *testing.T) {
	h := newHouse(t, nil)
	var calls atomic.Int32
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply {
		if calls.Add(1) == 1 {
			return &copilottest.Reply{Status: 429, After: 30, Says: "Slow down. You sent a lot!"}
		}
		return &copilottest.Reply{Text: "Here it is."}
	})
	s := h.session()
	id, err := s.Send(t.Context(), session.Message{Content: "now"})
	if err != nil {
		t.Fatal(err)
	}
	h.until("the wait", func() bool {
		return slices.ContainsFunc(h.sofar(s), func(d event.Data) bool {
			e, ok := d.(event.SessionError)
			return ok && e.Waits &&
				e.Message == "The provider answered 429: Slow down. You sent a lot! It may be tried again, 1 "+
					"of 5."
		})
	})
	later, err := s.Send(t.Context(), session.Message{Content: "later"})
	if err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	if err := s.Abort(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if r := h.ask(s, "now"); r.Outcome != event.Completed || time.Since(asked) > 25*time.Second {
		t.Errorf("tried now: %+v after %v", r, time.Since(asked))
	}
	if r, err := s.WaitTurn(t.Context(), id); err != nil || r.Outcome != event.Aborted {
		t.Errorf("the turn that waited: %+v, %v", r, err)
	}
	if r, err := s.WaitTurn(t.Context(), later); err != nil || r.Outcome != event.Completed {
		t.Errorf("the prompt in the queue: %+v, %v", r, err)
	}
	var order []string
	for _, r := range h.model.Requests() {
		order = append(order, r.Prompt())
	}
	if !slices.Equal(order, []string{"now", "now", "later"}) {
		t.Errorf("the model was asked %q", order)
	}
}

// What a provider says when it refuses for good comes whole, with how often it was tried, with what
// helps, and with the kind by which the page offers it.
func TestRealLimits(t *testing.T) {
	h := newHouse(t, alone)
	refusals := map[string]*copilottest.Reply{
		"long": {
			Status: 400,
			Says: "This model's maximum context length is 8192 tokens. Your messages resulted in 9000 " +
				"tokens.",
		},
		"quota": {Status: 402, Says: "You exceeded your current quota"},
		"odd":   {Status: 400, Says: "Unknown parameter. Did you mean effort?"},
		"key":   {Status: 401, Says: "No such key. Make one at the console."},
		"ill":   {Status: 500, Says: "Out of order. Engineers are on it."},
		"gone":  {Status: 404, Says: "No such model."},
		"hour":  {Status: 429, Says: "Too many requests. Come back.", After: 3600},
	}
	h.model.Answer(func(r copilottest.Request) *copilottest.Reply { return refusals[r.Prompt()] })
	s := h.session()
	asked := 0
	for prompt, want := range map[string]struct {
		kind event.ErrorKind
		says string
	}{
		"long": {event.KindTooLarge,
			"The provider answered 400: This model's maximum context length is 8192 tokens. Your messages " +
				"resulted in 9000 tokens. " +
				"Sum the conversation up with /compact, or choose a model that takes more."},
		"quota": {event.KindLimit,
			"The provider answered 402: You exceeded your current quota. The quota is used up: choose " +
				"another model, or go on when it is back."},
		"odd": {event.KindProvider,
			"The provider answered 400: Unknown parameter. Did you mean effort? " +
				"The same request would be refused again: change the prompt, or choose another model."},
		"key": {event.KindDenied,
			"The provider answered 401: No such key. Make one at the console. It was tried 3 times. " +
				"Correct the provider's key, then start webchat again."},
		"ill": {event.KindProvider,
			"The provider answered 500: Out of order. Engineers are on it. It was tried 6 times. " +
				"The provider has a problem of its own: send the prompt again later, or choose another model."},
		"gone": {event.KindProvider,
			"The provider answered 404: No such model. Choose another model, or correct the provider's " +
				"address."},
		"hour": {event.KindLimit,
			"The provider answered 429: Too many requests. Come back. The provider wants fewer requests: " +
				"wait a little, then send the prompt again."},
	} {
		r := h.ask(s, prompt)
		var last event.SessionError
		for _, d := range h.sofar(s) {
			if e, ok := d.(event.SessionError); ok && e.ErrorType != event.ErrorWarning {
				last = e
			}
		}
		if last.Kind != want.kind || last.Message != want.says || r.Outcome != event.Failed {
			t.Errorf("%s: %+v, %+v", prompt, last, r)
		}
		all := len(h.model.Requests())
		if n, said := all-asked, strings.Contains(last.Message,
			fmt.Sprintf("It was tried %d times.", all-asked)); said != (n > 1) {
			t.Errorf("%s: %d calls, and %q", prompt, n, last.Message)
		}
		asked = all
	}
}
