package displaytools

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"webchat/internal/agent"
	"webchat/internal/outputs"
	"webchat/internal/proc"
)

func TestMain(m *testing.M) {
	proc.Main()
	goleak.VerifyTestMain(m)
}

// bench is a workspace with its tools.
type bench struct {
	t     testing.TB
	dir   string
	store *outputs.Store
	set   *Set
	told  []agent.ProgressReport
}

func newBench(t testing.TB, change func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, dir: real(t, t.TempDir())}
	var err error
	if b.store, err = outputs.New(outputs.Config{TTL: time.Hour, Budget: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	c := Config{SessionID: "s1", Workspace: b.dir, Outputs: b.store, Env: os.Environ()}
	if change != nil {
		change(&c)
	}
	b.store = c.Outputs
	if b.set, err = New(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.set.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func real(t testing.TB, dir string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (b *bench) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) tool(name string) agent.Tool {
	b.t.Helper()
	for _, tool := range b.set.Tools() {
		if tool.Spec().Name == name {
			return tool
		}
	}
	b.t.Fatalf("no tool %s", name)
	return nil
}

func (b *bench) ctx() context.Context {
	return agent.WithCall(context.Background(), agent.CallInfo{SessionID: "s1", ToolCallID: "call-1"})
}

func object(t testing.TB, kv ...any) json.RawMessage {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (b *bench) plan(name string, kv ...any) agent.Action {
	b.t.Helper()
	a, err := b.tool(name).Plan(b.ctx(), object(b.t, kv...))
	if err != nil {
		b.t.Fatal(err)
	}
	return a
}

// call plans and runs.
func (b *bench) call(name string, kv ...any) agent.Result {
	b.t.Helper()
	return b.run(b.ctx(), b.plan(name, kv...))
}

func (b *bench) run(ctx context.Context, a agent.Action) agent.Result {
	b.t.Helper()
	res, err := a.Run(ctx, func(p agent.ProgressReport) { b.told = append(b.told, p) })
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// refused is the error of a call that must not work.
func (b *bench) refused(name string, kv ...any) string {
	b.t.Helper()
	a, err := b.tool(name).Plan(b.ctx(), object(b.t, kv...))
	if err != nil {
		return err.Error()
	}
	res := b.run(b.ctx(), a)
	if res.Type != agent.Failed {
		b.t.Fatalf("%s %v was not refused: %+v", name, kv, res)
	}
	return res.Error
}

func (b *bench) output(res agent.Result) *outputs.Output {
	b.t.Helper()
	if res.Telemetry == nil {
		b.t.Fatalf("no output: %+v", res)
	}
	o, err := b.store.Get(outputs.ID(res.Telemetry.OutputID))
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

// bytes is all that is kept of a result's output.
func (b *bench) bytes(res agent.Result) string {
	b.t.Helper()
	all, err := io.ReadAll(b.output(res).Reader())
	if err != nil {
		b.t.Fatal(err)
	}
	return string(all)
}
