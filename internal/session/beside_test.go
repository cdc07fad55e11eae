package session

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
)

// A session whose agent changes a file that another one's agent changed in a turn beside its own
// logs that: before the question where it asks, else behind the call. A turn that is over, another
// user's, and what a command printed are not named.
func TestFileChangedAtOnce(t *testing.T) {
	const diff = "--- a/pump.go\n+++ b/pump.go\n@@ -1 +1 @@\n-a\n+b\n"
	for name, c := range map[string]struct {
		mode  consent.Mode
		first string // what the other session does; its turn goes on
		user  string // whose the other session is
		over  bool   // the turn of the other ends first
		then  string
		want  string // events from the first that names the other
	}{
		"asks": {
			first: "allowed pump.go",
			then:  "ask pump.go",
			want:  "file.also_changed permission.requested",
		},
		"reports": {
			first: "report pump.go",
			then:  "report pump.go",
			want:  "file.also_changed turn.end",
		},
		"is let": {
			mode:  consent.ModeAllow,
			first: "report pump.go",
			then:  "ask pump.go",
			want:  "file.also_changed permission.requested",
		},
		"elsewhere": {first: "report pump.go", then: "report other.go"},
		"over":      {first: "report pump.go", over: true, then: "report pump.go"},
		"another's": {first: "report pump.go", user: "eve", then: "report pump.go"},
		"printed":   {first: "print pump.go", then: "report pump.go"},
	} {
		t.Run(name, func(t *testing.T) {
			var hold chan struct{}
			play(t, func(r *rig, cfg *Config) {
				hold = make(chan struct{})
				cfg.Permissions, cfg.Beside = c.mode, &Beside{}
				r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
					what, file, _ := strings.Cut(p.Content, " ")
					waits := strings.HasSuffix(file, "!")
					file = strings.TrimSuffix(file, "!")
					args := `{"path":"` + file + `"}`
					if what == "print" {
						args = `{"command":"git diff"}`
					}
					id := "c" + p.MessageID
					_ = h.Report(ctx, event.ToolExecutionStart{
						ToolCallID: id,
						ToolName:   "edit",
						Arguments:  []byte(args),
					})
					done := event.ToolExecutionComplete{
						ToolCallID: id,
						Success:    true,
						Result:     &event.ToolResult{Content: "ok"},
					}
					if what == "ask" || what == "allowed" {
						if _, err := h.AskPermission(ctx, agent.Permission{
							ToolCallID: id,
							ToolName:   "edit",
							Kind:       agent.KindWrite,
							Action:     "edit a file",
							Resource:   file,
						}); err != nil {
							return err
						}
					} else {
						done.Result.DetailedContent = strings.ReplaceAll(diff, "pump.go", file)
					}
					err := h.Report(ctx, done)
					if waits {
						<-hold
					}
					return err
				}
			}, func(r *rig) {
				start := event.SessionStart{
					SessionID: string(event.NewID()),
					Backend:   "scripted",
					Title:     "The other",
					User:      c.user,
				}
				cfg := r.cfg
				cfg.Permissions = consent.ModeAllow
				other, err := r.keep(Create(r.Context(), cfg, start, ""))
				if err != nil {
					t.Fatal(err)
				}
				id, err := other.Send(r.Context(), Message{Content: c.first + "!"})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if c.over {
					close(hold)
					if _, err := other.WaitTurn(r.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				id = r.send(c.then)
				if c.want != "" && c.mode == "" && strings.HasPrefix(c.then, "ask") {
					decide(r, r.request(), event.Allow)
				}
				r.wait(id)
				if !c.over {
					close(hold)
				}
				_, got, _ := strings.Cut(r.types(), "file.also")
				if got != "" {
					got = "file.also" + got
				}
				if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
					t.Errorf("the log goes on with %q, want %q", got, c.want)
				}
				for _, d := range all[event.FileAlsoChanged](r) {
					equal(t, "file", d.File, filepath.Join(r.cfg.Workspace, "pump.go"))
					equal(t, "session", d.SessionID, string(other.ID()))
					equal(t, "title", d.Title, "The other")
				}
			})
		})
	}
}
