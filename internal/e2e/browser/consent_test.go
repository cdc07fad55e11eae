//go:build unix

package browser

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A question outlives a reload; what was allowed and does not want to stop is
// stopped with everything it started, and what it said stays.
func TestReloadWhilePendingAndStopTheStubborn(t *testing.T) {
	s := start(t)
	script := `trap '' TERM HUP; echo partial output; setsid sh -c 'trap "" TERM HUP; echo $$ > pid.2; sleep 1000' & echo $$ > pid.1; sleep 1000`
	if err := os.WriteFile(filepath.Join(s.workspace, "stubborn.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.open("/")
	p.say("run sh stubborn.sh")
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.do(chromedp.Reload())
	p.live()
	p.wait(`document.querySelector('[data-ask][data-ready]')`)
	p.wait(`document.querySelector('.perm-cmd').textContent === 'sh stubborn.sh'`)
	p.answer("[data-act=allow-once]")
	p.has("[data-card][data-state=running]", "partial output")
	var pids []int
	for _, name := range []string{"pid.1", "pid.2"} {
		pids = append(pids, pidIn(t, filepath.Join(s.workspace, name)))
	}
	p.say("/stop")
	p.wait(`document.querySelector('.turn').dataset.state === 'aborted'`)
	p.has("[data-card]", "partial output")
	p.done()
	for _, pid := range pids {
		within(t, "the end of process "+strconv.Itoa(pid), func() bool { return syscall.Kill(pid, 0) != nil })
	}
	p.say("hello") // the session goes on
	p.wait(`document.querySelectorAll('.turn[data-state=completed]').length === 1`)
}

// pidIn waits for the process id a script writes.
func pidIn(t *testing.T, name string) (pid int) {
	t.Helper()
	within(t, name, func() bool {
		b, err := os.ReadFile(name)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		}
		return err == nil
	})
	return pid
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	end := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("never came: %s", what)
		}
	}
}
