package browser

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
	"webchat/internal/e2e/proxy"
)

// The whole page behind a real nginx, below a path of its own: signing in, the
// first prompt, pictures, streams and links all stay below it.
func TestBelowAPathOfAProxy(t *testing.T) {
	if noBrow != "" {
		t.Skip(noBrow)
	}
	t.Parallel()
	listen := "127.0.0.1:" + ports.Free()
	const path = "/tools/chat"
	proxy := proxy.Start(t, listen, `
		location / { return 404; }
		location `+path+`/ { proxy_pass http://server/; proxy_http_version 1.1; proxy_set_header Host $http_host; }`)
	_, port, _ := net.SplitHostPort(proxy)
	s := &site{t: t, workspace: workspace(t), data: filepath.Join(t.TempDir(), "data"), flags: []string{"--public-url", "http://localhost:" + port + path}}
	s.up(listen)
	t.Cleanup(func() {
		s.down(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("server log:\n%s", s.log.String())
		}
	})
	if want := "http://localhost:" + port + path + "/auth#t="; !strings.HasPrefix(s.link, want) {
		t.Fatalf("the link is %s, want %s…", s.link, want)
	}
	p := s.tab()
	asked := p.asked()
	p.do(chromedp.Navigate(s.link))
	p.wait(`location.pathname === '` + path + `/'`)
	p.live()
	p.say("/image logo.png")
	p.wait(`location.pathname.startsWith('` + path + `/sessions/')`)
	p.wait(`document.querySelector('#turns .pic img')?.naturalWidth === 320`)
	p.live()
	p.see("show me go.mod")
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 2`)
	p.do(chromedp.Reload())
	p.live()
	p.wait(`document.querySelectorAll('#turns [data-card][data-state=done]').length === 2`)
	p.wait(`document.querySelector('#side a[data-session]')?.pathname.startsWith('` + path + `/sessions/')`)
	for _, address := range asked() {
		if !strings.HasPrefix(address, s.url+"/") && !strings.HasPrefix(address, "about:") {
			t.Errorf("the page asked for %s", address)
		}
	}
}
