package proc

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What a tree has is read back from the kernel: what it was given, what was opened, and what it has
// again afterwards.
func TestConfinedPlacesAreReadBack(t *testing.T) {
	c := newCell(t, "a b/x", ".env", ".git/config", ".git/hooks/pre-commit", "secrets/k",
		"cache/there")
	outside := realTemp(t)
	c.hold(Pinned, ".git")
	c.hold(Frozen, ".git/config", ".git/hooks", "a b", "not/there")
	c.hold(Covered, ".env", "secrets")
	c.Places = append(c.Places, Place{Path: outside}, Place{Path: "/srv/missing"})
	if _, err := os.Lstat("/opt"); err == nil {
		c.Places = append(c.Places, Place{Path: "/opt", Access: Layered})
	}
	sh := c.ask()
	shown := func(access Access) (names []string) {
		t.Helper()
		all, err := sh.child.Places()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.Access == access {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(p.Path, c.work+"/"), outside))
			}
		}
		return names
	}
	want := func(when string, access Access, names ...string) {
		t.Helper()
		if got := shown(access); !slices.Equal(got, names) {
			t.Errorf("%s, %d: %q, not %q", when, access, got, names)
		}
	}
	want("at first", Writable, c.work)
	want("at first", Pinned, ".git")
	want("at first", Frozen, ".git/config", ".git/hooks", "a b")
	want("at first", Covered, ".env", "secrets")
	if got := shown(Readable); !slices.Contains(got, "/usr") || !slices.Contains(got, "") ||
		slices.Contains(got, "/srv/missing") {
		t.Errorf("it reads %q", got)
	}
	ends := []func() error{sh.open(c.work+"/secrets", Writable), sh.open(c.work+"/.env", Readable),
		sh.open(outside, Writable)}
	want("opened", Covered)
	want("opened", Frozen, ".env", ".git/config", ".git/hooks", "a b")
	want("opened", Writable, c.work, "")
	for _, end := range ends {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	want("closed", Covered, ".env", "secrets")
	want("closed", Writable, c.work)
}
