package browser

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// What the command line opens is where its link leads: to a line of a file, and to what
// a program writes while it does.
func TestCommandsLinkToWhatTheyShow(t *testing.T) {
	s := start(t)
	command := func(args ...string) *exec.Cmd {
		return exec.Command(binary, append(args, "--no-open", "--data-dir", s.data, "--workspace", s.workspace)...)
	}
	link, err := command("open", filepath.Join(s.workspace, "big.log")+":50000").Output()
	if err != nil {
		t.Fatal(err)
	}
	p := s.tab()
	p.do(chromedp.Navigate(strings.TrimSpace(string(link))))
	p.wait(`location.pathname.startsWith('/sessions/') && !location.href.includes('t=')`)
	p.live()
	p.is(`document.querySelector('.tab.is-front [data-part=name]')?.textContent`, "big.log")
	p.wait(`[...document.querySelectorAll('.pane .line .cl')].some((e) => e.textContent.startsWith('050000 ') && e.getBoundingClientRect().top < innerHeight)`)

	show := command("show", "--name", "build.log")
	in, err := show.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := show.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := show.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "\x1b[31mthe first line\x1b[0m\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Navigate("about:blank"))
	p.do(chromedp.Navigate(strings.TrimSpace(line)))
	p.wait(`location.pathname.startsWith('/sessions/')`)
	p.live()
	p.is(`document.querySelector('.tab.is-front [data-part=name]')?.textContent`, "build.log")
	p.wait(`[...document.querySelectorAll('.pane .line .cl')].some((e) => e.textContent.trim() === 'the first line')`)
	if _, err := io.WriteString(in, "the last line\n"); err != nil {
		t.Fatal(err)
	}
	p.wait(`[...document.querySelectorAll('.pane .line .cl')].some((e) => e.textContent.trim() === 'the last line')`)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := show.Wait(); err != nil {
		t.Error(err)
	}
	p.wait(`document.querySelector('#turns [data-card][data-tool=show_input]')?.dataset.state === 'done'`)
	p.shots("show")
}
