// Package documenttest is what any [document.Store] owes, as a test that any store runs.
package documenttest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"webchat/internal/document"
)

// Run holds a store to the contract. create makes an empty place, and returns what opens it as a
// program does: several at once have one place.
func Run(t *testing.T, create func(t *testing.T) (open func() document.Store)) {
	for name, test := range map[string]func(*testing.T, func() document.Store){
		"a text is read as it was written": asWritten, "who was first is not overwritten": firstHolds,
		"texts have names": names, "no change is lost": noneLost, "readers find a text whole": whole,
	} {
		t.Run(name, func(t *testing.T) { test(t, create(t)) })
	}
}

// is reads a text and compares it; want nil: there is none.
func is(t *testing.T, s document.Store, name string, want []byte) (version string) {
	t.Helper()
	text, version, err := s.Read(name)
	if err != nil || !bytes.Equal(text, want) || (version == "") != (want == nil) {
		t.Errorf("%s has %d bytes, version %q, %v; want %d bytes", name, len(text), version, err,
			len(want))
	}
	return version
}

func replace(t *testing.T, s document.Store, name, version string, text []byte) (now string) {
	t.Helper()
	now, err := s.Replace(name, version, text)
	if err != nil || now == "" {
		t.Errorf("replace %s: %q, %v", name, now, err)
	}
	return now
}

func asWritten(t *testing.T, open func() document.Store) {
	s, version := open(), ""
	is(t, s, "list", nil)
	for _, text := range [][]byte{[]byte("{}\n"), {}, []byte("a\x00\xff\xfe\r\n"),
		[]byte(strings.Repeat("long ", 1<<18)), []byte("{}\n")} {
		now := replace(t, s, "list", version, text)
		for _, s := range []document.Store{s, open()} {
			if got := is(t, s, "list", text); got != now {
				t.Errorf("the version is %q, and Replace returned %q", got, now)
			}
		}
		if now == version {
			t.Error("another text has the same version")
		}
		version = now
	}
}

func firstHolds(t *testing.T, open func() document.Store) {
	one, two := open(), open()
	refused := func(s document.Store, version string) {
		t.Helper()
		if _, err := s.Replace("list", version, []byte("late")); !errors.Is(err, document.ErrChanged) {
			t.Errorf("over the version %q: %v", version, err)
		}
	}
	refused(one, "unheard")
	is(t, one, "list", nil)
	first := replace(t, one, "list", "", []byte("one"))
	refused(two, "")
	refused(two, "unheard")
	second := replace(t, two, "list", first, []byte("two"))
	refused(one, first)
	is(t, one, "list", []byte("two"))
	replace(t, one, "list", second, []byte("two")) // the same again is not an error
}

func names(t *testing.T, open func() document.Store) {
	s := open()
	all := []string{"list", "list.json", "list.json.damaged-0a1b2c3d", "mcp-tokens.json"}
	for _, name := range all {
		replace(t, s, name, "", []byte(name))
	}
	for _, name := range all {
		is(t, s, name, []byte(name))
	}
}

func noneLost(t *testing.T, open func() document.Store) {
	const writers, each = 4, 15
	var all sync.WaitGroup
	for range writers {
		v := document.Open[[]int](open(), "list", nil)
		for range 2 { // two of one program
			all.Go(func() {
				for range each {
					if err := v.Change(func(have []int) []int {
						return append(have[:len(have):len(have)], len(have))
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	got := document.Open[[]int](open(), "list", nil).Get()
	want := make([]int, 2*writers*each)
	for i := range want {
		want[i] = i
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("of %d changes there are %v", len(want), got)
	}
}

func whole(t *testing.T, open func() document.Store) {
	s := open()
	text := func(i int) []byte {
		return []byte(strings.Repeat(strconv.Itoa(i%10), 10_000+1000*(i%10)))
	}
	version := replace(t, s, "list", "", text(0))
	done := make(chan struct{})
	var reading sync.WaitGroup
	for range 2 {
		r := open()
		reading.Go(func() {
			for {
				got, _, err := r.Read("list")
				if err != nil || len(got) == 0 || !bytes.Equal(got, text(int(got[0]-'0'))) {
					t.Errorf("a part was read: %d bytes, %v", len(got), err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 30 {
		version = replace(t, s, "list", version, text(i+1))
	}
	close(done)
	reading.Wait()
}
