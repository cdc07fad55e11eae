package copilot_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/agenttest"
	"webchat/internal/agent/copilot"
)

// veto is a host whose hooks refuse everything.
type veto struct {
	*agenttest.Host
	mu    sync.Mutex // guards asked
	asked []string
}

func (v *veto) RunHook(_ context.Context, c agent.HookCall) (agent.HookVerdict, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asked = append(v.asked, c.Event+" "+c.Tool+" "+string(c.Arguments)+string(c.Result))
	return agent.HookVerdict{Reason: "not on my watch"}, nil
}

// hooked is a conversation whose hooks refuse everything.
func hooked(t *testing.T, b *copilot.Backend) *talker {
	t.Helper()
	k := &talker{t: t, host: agenttest.NewHost(agenttest.DisplayTools())}
	v := &veto{Host: k.host}
	conn, err := b.Open(t.Context(), options(t, fresh("hooked"), false), v)
	if err != nil {
		t.Fatal(err)
	}
	k.conn, k.veto = conn, v
	t.Cleanup(k.close)
	return k
}

// TestHooks: hooks are asked before and after the CLI's own tools, not about the
// session's, and "allow" is never said for them.
func TestHooks(t *testing.T) {
	hook := func(kind, input string) string {
		return `request hooks.invoke {"sessionId":"$S","hookType":"` + kind + `","input":` + input + "}\n"
	}
	cfg, dir := scripted(t, []byte("-- > go --\n"+hook("sessionStart", `{}`)+
		hook("preToolUse", `{"toolName":"bash","toolArgs":{"command":"x"}}`)+
		hook("preToolUse", `{"toolName":"display_image","toolArgs":{}}`)+
		hook("postToolUse", `{"toolName":"bash","toolArgs":{},"toolResult":{"a":1}}`)))
	k := hooked(t, backend(t, cfg))
	if err := k.say("go"); err != nil {
		t.Error(err)
	}
	k.close()
	if want := []string{`before_tool bash {"command":"x"}`,
		`after_tool bash {}{"a":1}`}; !slices.Equal(k.veto.asked, want) {
		t.Errorf("asked %q", k.veto.asked)
	}
	want := []string{`{}`,
		`{"output":{"permissionDecision":"deny","permissionDecisionReason":"not on my watch"}}`, `{}`,
		`{"output":{"additionalContext":"not on my watch"}}`}
	if got := answers(t, dir); !slices.Equal(got, want) {
		t.Errorf("answered %q", got)
	}
	if created := received(t, dir, "session.create")[0]; !strings.Contains(created, `"hooks":true`) {
		t.Error("hooks were not turned on")
	}
}
