//go:build unix

package browser

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"webchat/internal/e2e/ports"
	"webchat/internal/store/postgrestest"
)

// A session's replica is killed while it streams to a page that another one serves: page and sign-in
// last, and once it is started again the turn is over and the composer free, with nothing pressed.
func TestOwnerIsKilledWhileItStreams(t *testing.T) {
	if noBrow != "" {
		t.Skip(noBrow)
	}
	t.Parallel()
	dir, folder := t.TempDir(), workspace(t)
	engine, token := filepath.Join(dir, "engine"), filepath.Join(dir, "token")
	if err := os.WriteFile(engine, []byte(postgrestest.Start(t).Database(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "shared"), 0o700); err != nil {
		t.Fatal(err)
	}
	addresses := [2]string{"localhost:" + ports.Free(), "localhost:" + ports.Free()}
	front := httptest.NewServer(&httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: addresses[1]})
		r.Out.Host = r.In.Host
	}})
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	var sites [2]*site
	for i, address := range addresses {
		s := &site{t: t, workspace: folder, data: filepath.Join(t.TempDir(), "data"), flags: []string{"--engine-file", engine, "--token-file", token,
			"--shared-dir", filepath.Join(dir, "shared"), "--public-url", strings.Replace(front.URL, "127.0.0.1", "localhost", 1), "--peer-url", "http://" + address}}
		s.up(address)
		t.Cleanup(func() {
			s.down(syscall.SIGTERM)
			if t.Failed() {
				t.Logf("log of %s:\n%s", address, s.log.String())
			}
		})
		sites[i] = s
	}
	owner, edge := sites[0], sites[1]
	key, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequest("POST", "http://"+addresses[0]+"/api/sessions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var one struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&one); err != nil || one.ID == "" {
		t.Fatal(res.Status, err)
	}
	p := edge.open("/sessions/" + one.ID)
	p.expect(append(refused, "503", "502")...)
	p.say("stream 2000 words slowly")
	p.wait(`document.querySelector('#turns .said')?.innerText.length > 20`)
	owner.down(syscall.SIGKILL)
	p.wait(`document.getElementById('status').dataset.state === 'off'`)
	p.shot("owner-away")
	p.compose("say hello") // it is sent once somebody has the session
	p.press("Alt+Enter")
	p.has("#toasts", "your prompt is saved and will be sent")
	q := edge.tab() // somebody opens it now
	q.expect(refused...)
	q.do(chromedp.Navigate(edge.url + "/sessions/" + one.ID))
	q.has("h1", "Cannot be reached at the moment")
	q.has("main", "does not answer")
	q.shot("replica-away")
	owner.up(addresses[0])
	for _, tab := range []*page{p, q} {
		tab.live()
		tab.has("#turns", "Interrupted: webchat ended before the turn did")
		tab.wait(`document.querySelectorAll('#turns > .turn').length === 2`)
		tab.done()
	}
	p.is(`document.getElementById('prompt').value`, "")
	p.shot("owner-back")
	p.do(chromedp.Reload())
	p.live() // signed in
}
