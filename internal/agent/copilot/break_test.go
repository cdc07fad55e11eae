package copilot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
	"webchat/internal/event"
)

var workspaceOf = regexp.MustCompile(`"workingDirectory":"[^"]*"`)

// talker is one conversation under test.
type talker struct {
	t    *testing.T
	host *agenttest.Host
	conn agent.Conn
	veto *veto // nil: no hooks
	n    int
}

func open(t *testing.T, b *copilot.Backend, id string, resume bool) *talker {
	t.Helper()
	k := &talker{t: t, host: agenttest.NewHost(agenttest.DisplayTools())}
	conn, err := b.Open(t.Context(), options(t, id, resume), k.host)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	k.conn = conn
	t.Cleanup(k.close)
	return k
}

func options(t testing.TB, id string, resume bool) agent.Options {
	return agent.Options{
		SessionID: id,
		Workspace: t.TempDir(),
		Tools:     agenttest.DisplayTools(),
		Resume:    resume,
	}
}

func (k *talker) close() {
	if err := k.conn.Close(); err != nil {
		k.t.Errorf("Close: %v", err)
	}
	k.host.Closed()
	for _, b := range k.host.Broken() {
		k.t.Errorf("broken rule: %s", b)
	}
}

func (k *talker) prompt(ctx context.Context, p agent.Prompt) error {
	k.n++
	p.MessageID = fmt.Sprintf("p%d", k.n)
	k.host.Begin()
	err := k.conn.Prompt(ctx, p)
	k.host.End(err)
	return err
}

func (k *talker) say(content string) error {
	return k.prompt(k.t.Context(), agent.Prompt{Content: content})
}

// talking is true once words stream.
func (k *talker) talking() bool {
	return slices.ContainsFunc(k.host.Events(), func(d event.Data) bool {
		_, ok := d.(event.AssistantMessageDelta)
		return ok
	})
}

// until waits for what somebody else does.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("%s: not in time", what)
		}
	}
}

func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(after, "Z")
}

func contains(t *testing.T, err error, is error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("%v is not %v", err, is)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error %q does not say %q", err, w)
		}
	}
}

// TestDeath: the process dies in the middle of a turn. One clear error, nothing
// left of its tree, and another process goes on with every conversation.
func TestDeath(t *testing.T) {
	for name, c := range map[string]struct{ script, words string }{
		"killed":  {"die", "was killed (SIGKILL)"},
		"exits":   {"stderr out of luck\nexit 7", "ended by itself (exit 7): out of luck"},
		"garbage": {"raw this is not a frame at all", "not its protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			pidFile := filepath.Join(t.TempDir(), "pid")
			cfg, dir := scripted(t, []byte("-- > go --\nevent assistant.turn_start {\"turnId\":\"0\"}\n"+
				"event assistant.message_delta {\"messageId\":\"$M\",\"deltaContent\":\"Half\"}\n"+
				"event tool.execution_start "+
				"{\"toolCallId\":\"call_0\",\"toolName\":\"bash\",\"arguments\":{}}\n"+
				"child "+pidFile+"\n"+c.script+"\nhang\n"))
			b := backend(t, cfg)
			one, other := open(t, b, "one", false), open(t, b, "other", false)
			contains(t, one.say("go"), agent.ErrDied, c.words, "send the prompt again")
			if pid, err := os.ReadFile(pidFile); err != nil {
				t.Error(err)
			} else if n, err := strconv.Atoi(string(pid)); err != nil || !gone(n) {
				t.Errorf("the CLI's child %s lives (%v)", pid, err)
			}
			one.close()
			if err := other.say("hello"); err != nil {
				t.Errorf("the other conversation: %v", err)
			}
			other.close()
			again := open(t, b, "one", true)
			if err := again.say("hello"); err != nil {
				t.Errorf("after the restart: %v", err)
			}
			resumed := received(t, dir, "session.resume")
			first, second := received(t, dir, "session.create")[0], resumed[len(resumed)-1]
			if part := workspaceOf.ReplaceAllString; part(first, "") != part(second, "") {
				t.Errorf("resumed with another configuration:\n%s\n%s", first, second)
			}
		})
	}
}

// TestUnusable: what cannot be used says why and what to do, and leaves nothing.
func TestUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		script, words string
		with          func(*copilot.Config)
	}{
		"old protocol": {script: "-- connect --\n" +
			"{\"ok\":true,\"protocolVersion\":2,\"version\":\"1.0.3\"}\n", words: "speaks protocol 2; " +
			"supported are"},
		"does not run": {
			script: "-- start --\nstderr error: unknown option '--headless'\nexit 1\n",
			words:  "unknown option",
		},
		"garbage": {
			script: "-- start --\nraw hello, I am a shell\nhang\n",
			words:  "not its protocol",
		},
		"refuses": {script: "-- connect --\nerror no way\n", words: "no way"},
		"view": {script: "-- session.tools.getCurrentMetadata --\n" +
			"{\"tools\":[{\"name\":\"view\"},{\"name\":\"render_file_contents\"},{\"name\":\"run_and_display\"},{\"name\":\"display_image\"}]}\n", words: "offers the tool \"view\""},
		"tool missing": {script: "-- session.tools.getCurrentMetadata --\n" +
			"{\"tools\":[{\"name\":\"render_file_contents\"},{\"name\":\"run_and_display\"}]}\n", words: "does not offer the display tool display_image"},
		"not read back": {
			script: "-- session.tools.getCurrentMetadata --\n{\"tools\":null}\n",
			words:  "does not offer",
		},
		"create fails": {script: "-- session.create --\nerror Invalid provider configuration: missing " +
			"field\n", words: "Invalid provider configuration"},
		"no login": {
			script: "-- auth.getStatus --\n{\"isAuthenticated\":false}\n",
			words:  "copilot login",
			with:   func(c *copilot.Config) { c.Providers = nil },
		},
		"missing": {words: "there is no GitHub Copilot CLI", with: func(c *copilot.Config) {
			c.Path = filepath.Join(c.Home, "nothing")
		}},
		"too old": {words: "1.0.102 and later", with: func(c *copilot.Config) {
			_ = os.WriteFile(filepath.Join(filepath.Dir(c.Path), "package.json"),
				[]byte(`{"name":"@github/copilot-test","version":"0.0.419"}`), 0o600)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := scripted(t, []byte(c.script))
			if c.with != nil {
				c.with(&cfg)
			}
			b := backend(t, cfg)
			_, err := b.Open(t.Context(), options(t, "s", false), agenttest.NewHost(nil))
			want := agent.ErrUnavailable
			if name == "create fails" {
				want = nil
			}
			contains(t, err, want, c.words)
		})
	}
}

// TestModelOfNobody: a model that no provider has is refused, before and in a
// conversation.
func TestModelOfNobody(t *testing.T) {
	cfg, dir := scripted(t, nil)
	b := backend(t, cfg)
	o := options(t, "s", false)
	o.Model = "other"
	_, err := b.Open(t.Context(), o, agenttest.NewHost(nil))
	contains(t, err, agent.ErrUnavailable, "fake-1, fake-2")
	k := open(t, b, "s", false)
	contains(t, k.conn.SetModel(t.Context(), "other"), nil, "no provider has the model")
	if err := k.conn.SetModel(t.Context(), "fake-2"); err != nil {
		t.Error(err)
	}
	if err := k.conn.SetTitle(t.Context(), "A title"); err != nil {
		t.Error(err)
	}
	k.close()
	if got := received(t, dir, "session.model.switchTo"); len(got) != 1 ||
		!strings.Contains(got[0], `"modelId":"own/fake-2"`) {
		t.Errorf("the CLI was told %q", got)
	}
	if got := received(t, dir, "session.name.set"); len(got) != 1 ||
		!strings.Contains(got[0], "A title") {
		t.Errorf("the CLI was told %q", got)
	}
}

// TestDeniedGoesOn: a refusal always has a reason for the model.
func TestDeniedGoesOn(t *testing.T) {
	cfg, dir := scripted(t, []byte("-- > go --\n"+
		`event permission.requested {"requestId":"P1","permissionRequest":{"kind":"shell","fullCommandText":"rm -r x"}}`+"\nawait session.permissions.handlePendingPermissionRequest\n"))
	k := open(t, backend(t, cfg), "s", false)
	k.host.Permit = func(agent.Permission) agent.Verdict { return agent.Verdict{Decision: event.Deny} }
	if err := k.say("go"); err != nil {
		t.Error(err)
	}
	k.close()
	if got := received(t, dir, "session.permissions.handlePendingPermissionRequest"); len(got) != 1 ||
		!strings.Contains(got[0], `"kind":"reject","feedback"`) &&
			!strings.Contains(got[0], `{"feedback":"The user said no.","kind":"reject"}`) {
		t.Errorf("answered %q", got)
	}
}

// TestStubborn: a CLI that neither stops nor lets go is given up, and killed
// with all it started; the next conversation has another.
func TestStubborn(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a CLI that does not answer")
	}
	cfg, _ := scripted(t,
		[]byte("-- session.abort --\nhang\n-- session.destroy --\nhang\n-- "+
			"session.metadata.isProcessing --\nhang\n"+
			"-- > go --\nevent assistant.message_delta {\"messageId\":\"$M\",\"deltaContent\":\"Half\"}\n"+
			"hang\n"))
	b := backend(t, cfg)
	copilot.Impatient(b)
	k := open(t, b, "s", false)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.prompt(ctx, agent.Prompt{Content: "go"}) }()
	until(t, "words", k.talking)
	cancel()
	contains(t, <-ended, agent.ErrDied, "did not stop")
	k.close()
	if err := open(t, b, "s", false).say("hello"); err != nil {
		t.Error(err)
	}
}

// TestStopBeforeItBegan: a stop that comes before the CLI has begun with the prompt stops
// it all the same, whatever the CLI says of the turn before.
func TestStopBeforeItBegan(t *testing.T) {
	cfg, dir := scripted(t,
		[]byte("-- begins late --\n-- > late --\nevent assistant.message_delta "+
			"{\"messageId\":\"$M\",\"deltaContent\":\"Half\"}\nhang\n"))
	k := open(t, backend(t, cfg), "s", false)
	if err := k.say("hello"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.prompt(ctx, agent.Prompt{Content: "late"}) }()
	until(t, "the prompt", func() bool { return len(received(t, dir, "session.send")) == 2 })
	cancel()
	contains(t, <-ended, context.Canceled, "")
	if err := k.say("hello"); err != nil {
		t.Error(err)
	}
	if n := len(received(t, dir, "session.abort")); n < 2 { // again, and until it stopped
		t.Errorf("it was told %d times to stop", n)
	}
}

// TestSteer: what is said in a turn joins it, also when it crosses its end.
func TestSteer(t *testing.T) {
	cfg, dir := scripted(t,
		[]byte("-- > go --\nevent assistant.message_delta "+
			"{\"messageId\":\"$M-a\",\"deltaContent\":\"Half\"}\nawait session.send\n"+
			"event assistant.message {\"messageId\":\"$M-a\",\"content\":\"Half, then: $TEXT\"}\n"))
	k := open(t, backend(t, cfg), "s", false)
	ended := make(chan error, 1)
	go func() { ended <- k.say("go") }()
	until(t, "words", k.talking)
	if err := k.conn.Steer(t.Context(), agent.Prompt{MessageID: "x", Content: "left"}); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if said := k.host.Said(); len(said) != 1 || said[0] != "Half, then: left" {
		t.Errorf("it said %q", said)
	}
	if sent := received(t, dir, "session.send"); !strings.Contains(sent[1], `"mode":"immediate"`) {
		t.Errorf("sent %q", sent)
	}
	if err := k.conn.Steer(t.Context(), agent.Prompt{Content: "late"}); !errors.Is(err,
		agent.ErrUnsupported) {
		t.Errorf("steered without a turn: %v", err)
	}
}

// TestAttachments: files are named, pictures sent, texts put into the prompt,
// but not into the title.
func TestAttachments(t *testing.T) {
	cfg, dir := scripted(t, nil)
	k := open(t, backend(t, cfg), "s", false)
	err := k.prompt(t.Context(), agent.Prompt{Content: "look", Attachments: []agent.Attachment{
		{Name: "a.go", Path: "/w/a.go"}, {Name: "p.png", MimeType: "image/png", Data: []byte("pic")},
		{Name: "log", MimeType: "text/plain", Data: []byte("line\xff")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	sent := received(t, dir, "session.send")[0]
	for _, want := range []string{
		`"prompt":"look\n\n\u003cattachment name=\"log\"\u003e\nline` + "\uFFFD" +
			`\n\u003c/attachment\u003e"`,
		`"displayPrompt":"look"`,
		`[{"type":"file","path":"/w/a.go","displayName":"a.go"},{"type":"blob","data":"cGlj","mimeType":"image/png","displayName":"p.png"}]`,
	} {
		if !strings.Contains(sent, want) {
			t.Errorf("%s\nis not in\n%s", want, sent)
		}
	}
}

// TestForget: what a deleted session left in the CLI is deleted there, too.
func TestForget(t *testing.T) {
	for result, words := range map[string]string{
		`{"success":true}`: "", `{"success":false,"error":"Session file not found for x"}`: "",
		`{"success":false,"error":"in use by another process."}`: "in use",
	} {
		cfg, dir := scripted(t, []byte("-- session.delete --\n"+result+"\n"))
		b := backend(t, cfg)
		if err := b.Forget(t.Context(), "s2"); err != nil { // nothing is kept of it
			t.Error(err)
		}
		if err := os.MkdirAll(filepath.Join(cfg.Home, "session-state", copilot.NativeID("s1")),
			0o700); err != nil {
			t.Fatal(err)
		}
		err := b.Forget(t.Context(), "s1")
		if words == "" && err != nil || words != "" &&
			(err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%s: %v", result, err)
		}
		if got := received(t, dir, "session.delete"); len(got) != 1 ||
			!strings.Contains(got[0], copilot.NativeID("s1")) {
			t.Errorf("asked %q", got)
		}
	}
}

// TestModels: under a login the CLI says which there are, and is asked once.
func TestModels(t *testing.T) {
	cfg, dir := scripted(t,
		[]byte("-- models.list --\n{\"models\":[{\"id\":\"m-1\",\"name\":\"Model One\"}]}\n"))
	cfg.Providers = nil
	b := backend(t, cfg)
	for range 2 {
		models, err := b.Models(t.Context())
		if err != nil || len(models) != 1 || models[0].Name != "Model One" {
			t.Errorf("%v, %v", models, err)
		}
	}
	if n := len(received(t, dir, "models.list")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// The end of a conversation that the CLI is slow about leaves the others alone.
func TestSlowEndTouchesNoOther(t *testing.T) {
	c, _ := scripted(t,
		[]byte("-- session.destroy --\nhang\n-- > wait --\nevent assistant.turn_start "+
			"{\"turnId\":\"0\"}\nevent assistant.message_delta "+
			"{\"messageId\":\"$M-a\",\"deltaContent\":\"still \"}\nawait session.send\nevent "+
			"assistant.message {\"messageId\":\"$M-a\",\"content\":\"still here\"}\nevent "+
			"assistant.turn_end {\"turnId\":\"0\"}"))
	b := backend(t, c)
	copilot.Impatient(b)
	one, other := open(t, b, "one", false), open(t, b, "other", false)
	pid := copilot.PID(b)
	ended := make(chan error, 1)
	go func() { ended <- one.say("wait") }()
	until(t, "words", one.talking)
	if err := other.conn.Close(); err != nil {
		t.Error(err)
	}
	if err := one.conn.Steer(t.Context(), agent.Prompt{MessageID: "s", Content: "go on"}); err != nil {
		t.Errorf("steer the turn that runs: %v", err)
	}
	if err := <-ended; err != nil || copilot.PID(b) != pid {
		t.Errorf("the turn of one ended with %v when another was closed; the process was %d and is %d",
			err, pid, copilot.PID(b))
	}
}

// The call of a model that sums the conversation up is counted, also behind a turn.
func TestCompactionIsCounted(t *testing.T) {
	c, _ := scripted(t,
		[]byte("-- > sum --\nlate session.compaction_complete "+
			"{\"success\":true,\"summaryContent\":\"secret\",\"compactionTokensUsed\":{\"inputTokens\":900,\"outputTokens\":80,\"cacheReadTokens\":5,\"model\":\"fake-1\",\"duration\":10}}"))
	k := open(t, backend(t, c), "one", false)
	if err := k.say("sum"); err != nil {
		t.Fatal(err)
	}
	var got event.AssistantUsage
	until(t, "the usage", func() bool {
		for _, d := range k.host.Events() {
			if u, ok := d.(event.AssistantUsage); ok {
				got = u
			}
		}
		return got.InputTokens > 0
	})
	if got.InputTokens != 900 || got.OutputTokens != 80 || got.CacheReadTokens != 5 ||
		got.Model != "fake-1" {
		t.Errorf("it took %+v", got)
	}
}
