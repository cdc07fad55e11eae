package guard

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestTwoProgramsOfOneStart: two programs that have one API token, one number of their start and
// one place for documents let in whom the other let in, within two seconds, and no longer than it
// does.
func TestTwoProgramsOfOneStart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		program := func(start string) *Guard {
			g, err := New(Config{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if start != "" {
				g.start = start
			}
			return g
		}
		one := program("")
		two, later := program(one.start), program("")
		if one.Challenge() != two.Challenge() || one.Challenge() == later.Challenge() {
			t.Error("the challenge does not follow from the start")
		}
		link := func(g *Guard) string { return strings.TrimPrefix(g.Link(""), "/auth#t=") }
		for _, of := range []*Guard{one, two} {
			secret, w := link(of), httptest.NewRecorder()
			r := httptest.NewRequest("POST", "/", nil)
			if _, err := later.SignIn(w, r, secret, nil); err == nil {
				t.Error("a link of the start before signs in")
			}
			secret = link(of)
			write, err := two.SignIn(w, r, secret, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := one.SignIn(httptest.NewRecorder(), r, secret, nil); err == nil {
				t.Error("a link signs in twice")
			}
			time.Sleep(2 * time.Second)
			r.AddCookie(w.Result().Cookies()[0])
			if !reads(one, r) || !reads(two, r) || !reads(later, r) {
				t.Error("the cookie does not read everywhere")
			}
			r.Header.Set("Authorization", "Bearer "+write)
			if !writes(one, r) || !writes(two, r) || writes(later, r) {
				t.Error("the secret does not write in the programs of its start, and in no other")
			}
			if err := of.SignOut(httptest.NewRecorder(), r); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
			if reads(one, r) || reads(two, r) {
				t.Error("who signed out in one program is signed in in the other")
			}
		}
	})
}

func reads(g *Guard, r *http.Request) bool  { _, ok := g.mayRead(r); return ok }
func writes(g *Guard, r *http.Request) bool { _, ok := g.mayWrite(r); return ok }

// Links are bounded, and who makes many pushes out their own.
func TestManyLinksOfOneUser(t *testing.T) {
	g, err := New(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	printed, bobs := g.launch("", ""), g.launch("bob", "")
	first := g.launch("ann", "")
	for range maxLaunch {
		g.launch("ann", "")
	}
	last := g.launch("ann", "")
	if n := len(g.launches.Get()); n != maxLaunch {
		t.Errorf("%d links are kept", n)
	}
	for secret, want := range map[string]bool{printed: true, bobs: true, first: false, last: true} {
		if user, good := g.spend(secret, ""); good != want {
			t.Errorf("a link of %q: %v", user, good)
		}
	}
}

// Sign-ins are bounded, and a user who signs in often signs out only themselves.
func TestManySignInsOfOneUser(t *testing.T) {
	g, err := New(Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var all []signin
	for i := range maxSignins + 2 {
		user := "ann"
		if i < 2 {
			user = []string{"", "bob"}[i]
		}
		all = append(all, signin{
			Cookie:  sum(strconv.Itoa(i)),
			User:    user,
			Created: time.Now(),
			Used:    time.Now(),
		})
	}
	if err := g.changeSignins(time.Now(), func([]signin) []signin { return all }); err != nil {
		t.Fatal(err)
	}
	if kept := g.signins.Get(); len(kept) != maxSignins || kept[0].User != "" ||
		kept[1].User != "bob" || kept[2].Cookie != "4" {
		t.Errorf("%d sign-ins are kept, first %v", len(kept), kept[:3])
	}
}
