package copilot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot/copilottest"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/session"
)

func searchHits(ctx context.Context, workspace string, s agent.Search) ([]string, bool) {
	return policy.New(policy.Config{Workspace: workspace}).SearchHits(ctx, s)
}

// A search of a folder leaves sensitive files out, says so to the user and to the
// model, and names them where it cannot: on the real CLI, the canary in them never
// reaches the model unasked.
func TestRealSearchesLeaveSecretsOut(t *testing.T) {
	const canary = "canary77c1d0e4a2"
	var all []string
	for _, name := range []string{"prod.env", "secrets.yml", ".env", "sub/.env", "sub/q/.ssh/config",
		"we[i]rd {x}!.env"} {
		all = append(all, name+": "+canary)
	}
	ws := plant(t, append(all, "a.txt: plain "+"text", "sub/b.go: plain", "sub/secrets.txt: "+
		canary)...)
	model := copilottest.New(t)
	cfg := real(t, model)
	cfg.SearchHits = searchHits
	b := sharing(t, cfg)
	host := agenttest.NewHost(agenttest.DisplayTools())
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: fresh("search"),
		Workspace: ws,
		Tools:     agenttest.DisplayTools(),
	}, host)
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{t: t, host: host, conn: conn}
	defer k.close()
	search := func(fields map[string]any) (agent.Permission, string) {
		t.Helper()
		fields["pattern"], fields["output_mode"] = "canary|plain", "content"
		arguments, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		before := len(host.Asked())
		if err := k.say("call grep " + string(arguments)); err != nil {
			t.Error(err)
		}
		asked, said := host.Asked(), host.Said()
		if len(asked) != before+1 {
			t.Fatalf("%s: asked %d times", arguments, len(asked)-before)
		}
		return asked[before], said[len(said)-1]
	}
	for _, fields := range []map[string]any{{}, {"glob": "**/*"}, {"paths": "."},
		{"paths": []string{ws}}, {"path": "sub"}, {"glob": "*.{go,txt}", "paths": "a.txt"}} {
		p, said := search(fields)
		if p.Search == nil || !strings.Contains(said, "plain") {
			t.Errorf("%v: asked %+v, search %+v, said %q", fields, p, p.Search, said)
		}
		if strings.Contains(p.Action, "without") != strings.Contains(said,
			"Not searched, since they may hold keys or "+
				"passwords: ") || fields["glob"] == nil && !strings.Contains(p.Action, "without") {
			t.Errorf("%v: %q, and the model hears %q", fields, p.Action, said)
		}
		if left, complete := searchHits(t.Context(), ws, *p.Search); len(left) > 0 || !complete {
			t.Errorf("%v: the policy still finds %q in %+v", fields, left, *p.Search)
		}
	}
	for _, r := range model.Requests() {
		if bytes.Contains(r.Body, []byte(canary)) {
			t.Fatal("the canary reached the model")
		}
	}
	// What cannot be left out is for the policy to ask about.
	for _, c := range []struct {
		fields map[string]any
		shows  string
	}{{map[string]any{"glob": ".env"}, ".env sub/.env"}, {map[string]any{"glob": "prod*"}, "prod.env"},
		{map[string]any{"paths": "prod.env"}, "prod.env"}} {
		p, _ := search(c.fields)
		if left, _ := searchHits(t.Context(), ws, *p.Search); strings.Join(left, " ") != c.shows ||
			strings.Contains(p.Action, "without") {
			t.Errorf("%v: asked %+v, which shows %q", c.fields, p, left)
		}
	}
}

// A session that asks does not ask about such a search, nor about where names are
// looked for, and says by which rule; it does ask where secrets could be shown.
func TestRealSearchesAreNotAskedAbout(t *testing.T) {
	const canary = "canary52e19f7b03"
	ws := plant(t, "prod.env: "+canary, "secrets.yml: "+canary, ".env: "+canary, "a.txt: plain")
	h := newHouseIn(t, ws, consent.ModeAsk, nil)
	s := h.session()
	for _, prompt := range []string{`call grep {"pattern":"canary|plain","output_mode":"content"}`,
		`call glob {"pattern":"**/*"}`} {
		if r := h.ask(s, prompt); r.Error != "" || !strings.Contains(r.Content, "a.txt") {
			t.Errorf("%s: %+v", prompt, r)
		}
	}
	for _, r := range h.model.Requests() {
		if bytes.Contains(r.Body, []byte(canary)) {
			t.Fatal("the canary reached the model")
		}
	}
	id, err := s.Send(t.Context(),
		session.Message{Content: `call grep {"pattern":"canary","glob":".env"}`})
	if err != nil {
		t.Fatal(err)
	}
	var asked []event.PermissionRequested
	until(t, "the question", func() bool {
		entries, err := s.Events(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		asked = asked[:0]
		for _, e := range entries {
			if d, ok := e.Event.Data.(event.PermissionRequested); ok {
				asked = append(asked, d)
			}
		}
		return len(asked) == 3
	})
	if asked[0].Action != "search a folder, without .env, prod.env and secrets.yml" {
		t.Errorf("the first is logged as %q", asked[0].Action)
	}
	if !asked[2].Sensitive || !strings.Contains(asked[2].Why, ".env") {
		t.Errorf("the last is asked as %+v", asked[2])
	}
	if err := s.Decide(t.Context(), asked[2].RequestID,
		consent.Decision{Decision: event.Deny}); err != nil {
		t.Error(err)
	}
	if _, err := s.WaitTurn(t.Context(), id); err != nil {
		t.Error(err)
	}
}

// rewriting is a host whose hooks change arguments.
type rewriting struct {
	*agenttest.Host
	change func(agent.HookCall) json.RawMessage
}

func (r rewriting) RunHook(_ context.Context, c agent.HookCall) (agent.HookVerdict, error) {
	v := agent.HookVerdict{Allow: true}
	if c.Event == "before_tool" {
		v.Arguments = r.change(c)
	}
	return v, nil
}

// What a hook makes of a call is what is asked about and what runs; the call is
// known to hooks by the id it has in the log.
func TestRealHooksRewrite(t *testing.T) {
	model := copilottest.New(t)
	cfg := real(t, model)
	cfg.SearchHits = searchHits
	b := sharing(t, cfg)
	if b.Info(t.Context()).Intercept != agent.InterceptRewrite {
		t.Error("hooks are said not to change arguments")
	}
	ws := plant(t, "a.txt: plain", "b.txt: plain", ".env: plain")
	host := agenttest.NewHost(agenttest.DisplayTools())
	var ids []string
	conn, err := b.Open(t.Context(), agent.Options{
		SessionID: fresh("rewrite"),
		Workspace: ws,
		Tools:     agenttest.DisplayTools(),
	}, rewriting{host, func(c agent.HookCall) json.RawMessage {
		ids = append(ids, c.RequestID)
		switch c.Tool {
		case "bash":
			return json.RawMessage(`{"command":"echo two","description":"x"}`)
		case "grep":
			return json.RawMessage(`{"pattern":"plain","paths":["` + filepath.ToSlash(ws) + `"]}`)
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{t: t, host: host, conn: conn}
	for _, prompt := range []string{`call bash {"command":"echo first","description":"x"}`,
		`call grep {"pattern":"other","glob":"*.txt"}`} {
		if err := k.say(prompt); err != nil {
			t.Error(err)
		}
	}
	k.close()
	asked := host.Asked()
	if len(asked) != 2 || asked[0].Resource != "echo two" || asked[1].Search == nil ||
		asked[1].Search.Pattern != "plain" || !strings.HasSuffix(asked[1].Action, ", without .env") {
		t.Errorf("asked %+v", asked)
	}
	said := strings.Join(host.Said(), "\n")
	if !strings.Contains(said, "two") || strings.Contains(said, "first") ||
		!strings.Contains(said, "a.txt") || strings.Contains(said, filepath.Join(ws, ".env")) {
		t.Errorf("said %q", said)
	}
	if len(asked) != 2 || !slices.Equal(ids, []string{asked[0].ToolCallID, asked[1].ToolCallID}) {
		t.Errorf("hooks were asked about %q", ids)
	}
}

// Nothing is asked of hooks outside of a turn, so nothing runs there.
func TestNoTurnNoTool(t *testing.T) {
	c, dir := scripted(t,
		[]byte("-- > go --\nlate session.idle {}\nafter hooks.invoke "+
			"{\"sessionId\":\"$S\",\"hookType\":\"preToolUse\",\"input\":{\"toolName\":\"bash\",\"toolArgs\":{}}}\n"))
	k := open(t, backend(t, c), "s", false)
	if err := k.say("go"); err != nil {
		t.Error(err)
	}
	until(t, "the answer", func() bool { return len(answers(t, dir)) > 0 })
	if got := answers(t, dir)[0]; !strings.Contains(got, `"permissionDecision":"deny"`) {
		t.Errorf("answered %s", got)
	}
}

// A search that is not understood, or whose restriction the CLI would not see, is
// never taken for a harmless one.
func TestSearchesThatAreNotUnderstood(t *testing.T) {
	ws := plant(t, ".env", "src/a.go")
	for arguments, want := range map[string]string{
		`{"pattern":"x","Glob":"*.go"}`:     "glob ''",
		`{"pattern":"x","Paths":["src"]}`:   "path ''",
		`{"pattern":"x","glob":["*.go"]}`:   "sensitive",
		`{"pattern":"x","paths":["src",3]}`: "sensitive",
		`{"pattern":"x","paths":null}`:      "path ''",
		`{"pattern":"x","glob":null}`:       "glob ''",
		`"pattern"`:                         "path ''",
	} {
		c, _ := scripted(t,
			[]byte("-- > go --\nevent tool.execution_start "+
				"{\"toolCallId\":\"call_0\",\"toolName\":\"grep\",\"arguments\":"+arguments+"}\n"+
				"event permission.requested "+
				"{\"requestId\":\"P\",\"permissionRequest\":{\"kind\":\"read\",\"toolCallId\":\"call_0\",\"path\":"+strconv.Quote(ws)+"}}\n"+
				"await session.permissions.handlePendingPermissionRequest\nevent tool.execution_complete "+
				"{\"toolCallId\":\"call_0\",\"success\":true}\n"))
		host := agenttest.NewHost(agenttest.DisplayTools())
		conn, err := backend(t, c).Open(t.Context(), agent.Options{
			SessionID: "s",
			Workspace: ws,
			Tools:     agenttest.DisplayTools(),
		}, host)
		if err != nil {
			t.Fatal(err)
		}
		k := &talker{t: t, host: host, conn: conn}
		if err := k.say("go"); err != nil {
			t.Error(err)
		}
		k.close()
		asked := host.Asked()
		if len(asked) != 1 {
			t.Fatalf("%s: asked %d times", arguments, len(asked))
		}
		got := "sensitive"
		if s := asked[0].Search; s != nil {
			got = "path '" + s.Path + "', glob '" + s.Glob + "'"
		}
		if !strings.Contains(got, want) || asked[0].Sensitive != (want == "sensitive") {
			t.Errorf("%s: %s, sensitive %v, want %s", arguments, got, asked[0].Sensitive, want)
		}
	}
}
