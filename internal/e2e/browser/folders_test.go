package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// api makes a request with the API token and returns the answer.
func (s *site) api(method, path string, body any) string {
	s.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(s.data, "token"))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(string(b)))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %s %s %v", method, path, reply.Status, text, err)
	}
	return string(text)
}

// sessions begins n sessions with titles in a folder.
func (s *site) sessions(folder string, n int) {
	s.t.Helper()
	for i := range n {
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(s.api("POST", "/api/sessions", map[string]string{"workspace": folder})), &made); err != nil {
			s.t.Fatal(err)
		}
		s.api("PATCH", "/api/sessions/"+made.ID, map[string]string{"title": fmt.Sprintf("Number %d", i)})
	}
}

// folders are the names in the list of sessions, in their order, and whether each is open.
const folders = `[...document.querySelectorAll('#sessions .folder')].map((f) => f.querySelector('.t').textContent + ' ' + f.querySelector('[aria-expanded]').ariaExpanded).join()`

// Two folders in two tabs: each page works in its own, lists its own first, and sees
// what happens in the other.
func TestTwoFolders(t *testing.T) {
	s := start(t)
	own, other := filepath.Base(s.workspace), filepath.Join(t.TempDir(), "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "plan.md"), []byte("# The plan of the other folder\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := s.open("/")
	a.say("/show go.mod")
	a.done()
	first := a.session()

	// A folder is opened by its path; about one that is not a repository it is asked once.
	a.click("[data-act=open-folder]")
	a.wait(`document.querySelector('#open-bar[open] input').value === '~/'`)
	a.js(`document.querySelector('#open-bar input').select()`)
	a.write(other)
	a.has("#open-hits [aria-selected=true]", "other")
	a.accessible("opening a folder")
	a.press("Enter")
	a.has("#confirm[open]", "not a git repository")
	a.click("#confirm [data-part=yes]")
	a.wait(`new URLSearchParams(location.search).get('workspace')?.endsWith('/other') && document.getElementById('where').textContent.endsWith('/other')`)
	a.live()
	a.is(folders, "other true,"+own+" false")
	a.say("/show plan.md")
	a.done()
	second := a.session()
	a.has("#sessions [aria-current=page] .t", "plan.md")

	b := s.open("/")
	b.is(folders, own+" true,other false")
	b.bar("plan.md")
	b.wait(`[...document.querySelectorAll('#open-hits .hit')].some((h) => h.querySelector('.in')?.textContent === 'other')`)
	b.is(`String([...document.querySelectorAll('#open-hits .hit.mono')].some((h) => h.textContent.includes('plan.md')))`, "false")
	b.press("Escape")

	// What happens in the other folder is seen here, with the folder's name.
	a.say("run echo hello")
	b.has(`#sessions a[data-session="`+second+`"][data-status=waiting] .in`, "other")
	b.wait(`((a) => a.querySelector('.n').getBoundingClientRect().bottom <= a.querySelector('.in').getBoundingClientRect().top + 2)(document.querySelector('#sessions a[data-session="` + second + `"]'))`)
	b.shots("two-folders")
	a.wait(`document.querySelector('[data-ask][data-ready]')`)
	a.answer("[data-act=allow-once]")
	a.done()
	b.wait(`!document.querySelector('#sessions [data-status=waiting]')`)

	// By keys: a folder opens and closes, and stays so when the list is drawn anew.
	b.js(`document.querySelector('#sessions .folder:last-child [aria-expanded]').focus()`)
	b.press("Enter")
	b.wait(`document.querySelector('#sessions .folder:last-child a[data-session="` + second + `"]')`)
	a.say("/title The plan")
	b.has(`#sessions a[data-session="`+second+`"] .t`, "The plan")
	b.is(folders, own+" true,other true")

	// Where there are many they are filtered by text and by state, and then all of them again.
	s.sessions(s.workspace, 6)
	b.wait(`document.querySelector('#filter input').checkVisibility()`)
	b.js(`document.querySelector('#filter input').focus()`)
	b.write("go.mod")
	b.wait(`!document.querySelector('#sessions .folder') && document.querySelectorAll('#sessions a').length === 1`)
	b.has(`#sessions a[data-session="`+first+`"]`, "go.mod")
	b.accessible("the filtered list")
	b.js(`document.querySelector('#filter select').value = 'failed'; document.querySelector('#filter select').dispatchEvent(new Event('input', { bubbles: true }))`)
	b.has("#sessions .none", "No session matches")
	b.js(`document.getElementById('filter').reset(); document.querySelector('#filter').dispatchEvent(new Event('input', { bubbles: true }))`)
	b.wait(folders + ` === ` + quote(own+" true,other false"))

	// Closed, it is hidden with its sessions; nothing is deleted.
	b.js(`document.querySelector('#sessions .folder:last-child [data-act=folder-menu]').focus()`)
	b.press("Enter")
	b.choose("Close this folder")
	b.has(".toast", "are kept")
	b.wait(folders + ` === ` + quote(own+" true"))
	b.click(".toast [data-part=do]")
	b.wait(folders + ` === ` + quote(own+" true,other false"))
	a.do(chromedp.Navigate("about:blank"))
}

// Every session of a folder is reached by scrolling, and more of them are asked for by
// the keyboard, too.
func TestAllSessionsAreReached(t *testing.T) {
	s := start(t)
	s.sessions(s.workspace, 70)
	p := s.open("/")
	count := `document.querySelectorAll('#sessions .folder a[data-session]').length`
	p.has("#sessions .folder .num", "70")
	p.wait(count + ` >= 30 && document.querySelector('#sessions .next')`)
	for _, n := range []string{"60", "70"} {
		p.js(`document.querySelector('#sessions .next')?.scrollIntoView()`)
		p.wait(count + ` >= ` + n)
	}
	p.wait(`!document.querySelector('#sessions .next')`)
	p.is(`String(new Set([...document.querySelectorAll('#sessions a')].map((e) => e.dataset.session)).size)`, "70")
	s.sessions(s.workspace, 1) // the list is drawn anew, with as many rows
	p.wait(`document.querySelector('#sessions .folder .num').textContent === '71' && ` + count + ` >= 70`)
}
