package cage

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"webchat/internal/proc"
)

// A pipe in the place of a file that webchat reads when a tree begins, or when what trees made is
// looked at, holds nothing up.
func TestPipesHoldNothingUp(t *testing.T) {
	h := newHolder(t, "code/proj/sub/.env")
	if err := os.WriteFile(h.home+"/.gitconfig", []byte("[core]\n\texcludesFile = "+h.work+
		"/ignore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{
		"mkfifo .git",
		"rm .git; mkdir w; echo gitdir: w >.git; mkfifo w/gitdir",
		"rm .git; mkdir .git; mkdir .git/objects .git/refs; echo x >.git/HEAD; mkfifo .git/config",
		"rm -r .git; mkfifo ignore",
	} {
		h.outside(one)
		done := make(chan error, 1)
		go func() {
			_, _, err := h.c.ConfineCommand(context.Background(),
				proc.Command{Args: []string{"true"}, Dir: h.work, Env: h.Env})
			h.c.keep.writes("/elsewhere")
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", one, err)
			}
		case <-time.After(10 * time.Second): // it would wait for good
			t.Errorf("%s: it is waited for", one)
			for _, name := range []string{".git", "w/gitdir", ".git/config", "ignore"} {
				if f, err := os.OpenFile(filepath.Join(h.work, name), os.O_WRONLY|syscall.O_NONBLOCK,
					0); err == nil {
					f.Close()
				}
			}
			<-done
		}
	}
}

// What the user has git ignore is shown to a tree as far as no tree may have had it lead elsewhere.
func TestIgnoredIsNotLedAstray(t *testing.T) {
	h := newHolder(t, "code/proj/sub/.env", "elsewhere")
	if err := os.WriteFile(h.home+"/.gitconfig", []byte("[core]\n\texcludesFile = "+h.work+
		"/ignore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.outside("echo words of the user >../../elsewhere; ln -s ../../elsewhere ignore")
	in, end := h.begin()
	in("cp " + ignoreFile + " seen")
	end()
	if got := h.outside("cat seen"); !strings.Contains(got, ".env") || strings.Contains(got, "words") {
		t.Errorf("it reads %q", got)
	}
}
