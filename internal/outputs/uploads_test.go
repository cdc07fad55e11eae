package outputs

import "testing"

func TestUploadsHaveABudget(t *testing.T) {
	u := NewUploads(10)
	put := func(session string, n int) string {
		id, err := u.Put(session, "text/plain", make([]byte, n))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	there := func(session, id string, want bool) {
		t.Helper()
		if _, _, err := u.Get(session, id); (err == nil) != want {
			t.Errorf("%s of session %s: %v, want it there: %v", id, session, err, want)
		}
	}
	if _, err := u.Put("s", "text/plain", make([]byte, 11)); err == nil {
		t.Error("more than the budget was taken")
	}
	a, b := put("s", 6), put("s", 4)
	c := put("t", 1)
	there("s", a, false)
	there("s", b, true)
	there("t", b, false)
	there("t", c, true)
	u.DeleteSession("s")
	there("s", b, false)
	there("t", c, true)
	d := put("t", 9) // what was deleted counts no more
	there("t", c, true)
	there("t", d, true)
}
