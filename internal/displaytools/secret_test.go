package displaytools

import (
	"os"
	"path/filepath"
	"testing"

	"webchat/internal/agent"
)

// A name is swapped between a file and a link to a secret while it is opened: the
// secret must never be shown without being asked about.
func TestRace(t *testing.T) {
	b := newBench(t, nil)
	b.write("good", "public")
	b.write(".env", "CANARY")
	flip := filepath.Join(b.dir, "flip")
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
			}
			target := []string{"good", ".env"}[i%2]
			tmp := filepath.Join(b.dir, "tmp")
			if os.Symlink(target, tmp) == nil {
				_ = os.Rename(tmp, flip)
			}
		}
	}()
	shown := 0
	for n := 0; n < 400 || shown < 50 && n < 1e6; n++ { // the swaps may wait for a processor
		a, err := b.tool(RenderFile).Plan(b.ctx(), object(t, "path", "flip"))
		if err != nil || a.Ask != nil {
			continue
		}
		res := b.run(b.ctx(), a)
		if res.Type != agent.Success {
			continue
		}
		shown++
		if got := b.bytes(res); got != "public" {
			t.Errorf("shown without being asked about: %q", got)
		}
	}
	close(quit)
	<-done
	if shown == 0 {
		t.Error("nothing was ever shown: the race was not run")
	}
}

func TestThreat46Sensitive(t *testing.T) {
	b := newBench(t, nil)
	for _, name := range []string{".env", ".env.local", "server.pem", "id_rsa", "ID_ED25519",
		".git-credentials", "tls.key", ".ssh/config", ".netrc"} {
		b.write(name, "CANARY")
		a := b.plan(RenderFile, "path", name)
		if a.Ask == nil || !a.Ask.Sensitive || a.Ask.Kind != agent.KindRead || a.Ask.Resource != name ||
			a.Ask.Digest != a.Digest || a.Digest == "" {
			t.Errorf("%s: %+v", name, a.Ask)
		}
	}
	b.link(".env", "a.txt")
	if a := b.plan(RenderFile, "path", "a.txt"); a.Ask == nil || a.Ask.Resource != "a.txt" ||
		a.Ask.Target != filepath.Join(b.dir, ".env") {
		t.Errorf("a link to .env: %+v", a.Ask)
	}
	b.write("harmless", "x")
	b.link("harmless", ".env.link")
	if a := b.plan(RenderFile, "path", ".env.link"); a.Ask == nil {
		t.Error("a link named .env.link is not asked about")
	}
	for _, name := range []string{"main.go", "environment.md", "key.go", "grid_x"} {
		b.write(name, "x")
		if a := b.plan(RenderFile, "path", name); a.Ask != nil {
			t.Errorf("%s is asked about", name)
		}
	}
}

func TestDigestTellsCallsApart(t *testing.T) {
	b := newBench(t, nil)
	b.write("a", "x")
	b.write("b", "x")
	seen := map[string]bool{}
	for _, a := range []agent.Action{
		b.plan(RenderFile, "path", "a"), b.plan(RenderFile, "path", "b"),
		b.plan(RenderFile, "path", "a", "endLine", 3), b.plan(DisplayImage, "path", "a"),
		b.plan(RunCommand, "command", "a"), b.plan(RunCommand, "command", "b"),
	} {
		if len(a.Digest) != 64 || seen[a.Digest] {
			t.Errorf("digest %q", a.Digest)
		}
		seen[a.Digest] = true
	}
}
