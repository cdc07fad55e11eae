package guard_test

import (
	"errors"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"webchat/internal/document"
	"webchat/internal/guard"
)

// database is what several servers share: it knows at once what one of them changed, if it is
// asked.
type database struct {
	document.Folder
	away bool
}

func (database) Refresh(string) error { return nil }

func (d *database) Replace(name, version string, text []byte) (string, error) {
	if d.away {
		return "", errors.New("the database does not answer")
	}
	return d.Folder.Replace(name, version, text)
}

// A browser that signed in at one of several servers is signed in at all of them at once, with the
// same secret; a link is spent at all of them, and not at all while that cannot be said to the
// others.
func TestReplicas(t *testing.T) {
	shared := &database{Folder: document.Folder(t.TempDir())}
	server := func() *guard.Guard {
		return newGuard(t, guard.Config{
			Documents: shared,
			Start:     "of all",
			TokenFile: filepath.Join(string(shared.Folder), "token"),
		})
	}
	one, two := server(), server()
	// what is known now is old at the next request
	if n := get(routes(two), "webchat_8080=none"); n != 401 {
		t.Errorf("a stranger is answered %d", n)
	}
	cookie, secret := signIn(t, one)
	if n := get(routes(two), cookie); n != 200 {
		t.Errorf("at the other server the cookie is answered %d", n)
	}
	if n := post(routes(two), secret); n != 200 {
		t.Errorf("at the other server the secret is answered %d", n)
	}
	spend := func(g *guard.Guard, link string) error {
		r := httptest.NewRequest("POST", "/api/sign-in", nil)
		r.Host = host
		_, err := g.SignIn(httptest.NewRecorder(), r, link, nil)
		return err
	}
	link, second := launchOf(one), launchOf(one)
	if err := spend(two, link); err != nil {
		t.Errorf("a link of the other server: %v", err)
	}
	if err := spend(one, link); !errors.Is(err, guard.ErrLaunch) {
		t.Errorf("a link that was spent at the other server: %v", err)
	}
	shared.away = true
	if err := spend(two, second); !errors.Is(err, guard.ErrLaunch) {
		t.Errorf("a link whose use cannot be recorded: %v", err)
	}
}
