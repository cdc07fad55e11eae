package browser

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/standin"
)

var (
	binary string // the program under test
	chrome context.Context
	noBrow string // why there is no browser
)

func TestMain(m *testing.M) {
	standin.Main() // a server in this process runs commands, too
	os.Exit(run(m))
}

func run(m *testing.M) int {
	// The tests wait more than they compute: for frames, timers and slow networks.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "browser")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "webchat")
	if out, err := exec.Command("go", "build", "-o", binary, "webchat/cmd/webchat").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	path := chromium()
	if path == "" {
		noBrow = "no Chromium here: apt-get install chromium to try the page in a real browser"
		if os.Getenv("CI") != "" {
			fmt.Fprintln(os.Stderr, noBrow)
			return 1
		}
		return m.Run()
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("process-per-site", true),
		// else Chromium drops keys until a page's first frame
		chromedp.Flag("allow-pre-commit-input", true))
	alloc, end := chromedp.NewExecAllocator(context.Background(), opts...)
	defer end()
	var stop context.CancelFunc
	chrome, stop = chromedp.NewContext(alloc)
	defer stop()
	if err := chromedp.Do(chrome, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		return 1
	}
	return m.Run()
}

func chromium() string {
	// Without windows around its pages Chromium costs a third less.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// site is one running server on a workspace of its own.
type site struct {
	t         testing.TB
	url       string
	workspace string
	data      string
	flags     []string
	cmd       *exec.Cmd
	link      string
	seat      *seat // where its tabs are, once there is one
	log       *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start begins a site; the test's end stops it.
func start(t testing.TB, flags ...string) *site {
	t.Helper()
	if noBrow != "" {
		t.Skip(noBrow)
	}
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
	s := &site{t: t, workspace: workspace(t), data: filepath.Join(t.TempDir(), "data"), flags: flags}
	s.sit()
	s.up(s.seat.address)
	t.Cleanup(func() {
		s.down(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("server log:\n%s", s.log.String())
		}
	})
	return s
}

// up starts the program; after a down it comes back at the same address.
func (s *site) up(listen string) {
	s.t.Helper()
	s.log = &lockedBuffer{}
	s.cmd = exec.Command(binary, append([]string{"serve", "--no-open", "--backend", "offline", "--sandbox", "off", "--data-dir", s.data,
		"--workspace", s.workspace, "--listen", listen}, s.flags...)...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatalf("no sign-in link: %v\n%s", err, s.log.String())
	}
	s.link = strings.TrimSpace(line)
	s.url, _, _ = strings.Cut(s.link, "/auth#")
}

// down ends the program by a signal.
func (s *site) down(sig os.Signal) {
	if s.cmd == nil || s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(sig)
	_ = s.cmd.Wait()
}

// again restarts the program at its address.
func (s *site) again() {
	s.t.Helper()
	s.up(strings.TrimPrefix(s.url, "http://"))
}

// git runs git in the workspace.
func (s *site) git(args ...string) {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", s.workspace, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// bigLog is a log of 100,000 lines.
var bigLog = sync.OnceValue(func() string {
	var b strings.Builder
	for i := 1; i <= 100_000; i++ {
		fmt.Fprintf(&b, "%06d 2026-11-20T10:00:00Z pump frame=%d queue=%d ok\n", i, i*7%1000, i%13)
	}
	return b.String()
})

// workspace makes a folder with something of everything.
func workspace(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/relay\n\ngo 1.26\n\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.2.3\n\tgolang.org/x/sync v0.18.0\n)\n")
	write("README.md", "# Relay\n\nCarries frames from here to there.\n\n- fast\n- quiet\n")
	write("internal/pump/pump.go", pumpGo)
	write("evil.html", "<!doctype html><script>window.evil = 1</script>\n```\n<img src=//sink.invalid/x onerror=evil()>\n")
	write("data.bin", "\x7fELF\x00\x01\x02\xff\xfe"+strings.Repeat("\x00\x90", 600))
	write(".env", "TOKEN=secret\n")
	write("big.log", bigLog())
	f, err := os.Create(filepath.Join(dir, "logo.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(f, picture()), f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func picture() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 320, 160))
	for y := range 160 {
		for x := range 320 {
			if (x-160)*(x-160)+(y-80)*(y-80)*4 < 120*120 {
				m.Set(x, y, color.RGBA{uint8(10 + x/4), 106, uint8(91 + y/2), 255})
			}
		}
	}
	return m
}

const pumpGo = `// Package pump moves frames from a source to many sinks.
package pump

import (
	"context"
	"errors"
	"time"
)

// Patience is how long a sink may stay full before it is cut.
const Patience = time.Second

// Pump copies frames until its context ends.
type Pump struct {
	sinks []chan<- []byte
}

// Run copies frames; a sink that is full for longer than Patience is cut.
func (p *Pump) Run(ctx context.Context, source <-chan []byte) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case frame, ok := <-source:
			if !ok {
				return errors.New("source ended")
			}
			p.publish(frame)
		}
	}
}

func (p *Pump) publish(frame []byte) {
	for _, sink := range p.sinks {
		select {
		case sink <- frame:
		default:
		}
	}
}
`

// limit bounds what one test waits for; it fails with what was waited for.
const limit = 3 * time.Minute
