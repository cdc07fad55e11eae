package files

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestALookIsBounded(t *testing.T) {
	g := &gathering{paths: make([]string, maxPaths-1)}
	if err := g.add("the last one"); err != nil {
		t.Error(err)
	}
	if err := g.add("one more"); !errors.Is(err, errEnough) {
		t.Errorf("over %d paths: %v", maxPaths, err)
	}
	g = &gathering{bytes: maxBytes - 3}
	if err := g.add("abc"); err != nil {
		t.Error(err)
	}
	if err := g.add("d"); !errors.Is(err, errEnough) {
		t.Errorf("over %d bytes: %v", maxBytes, err)
	}
}

// More paths fit than are compared closely: the best are still found.
func TestTheBestOfVeryMany(t *testing.T) {
	paths := append(many(20_000), "x/go/deep/in/there/wanted.go", "Wanted.go.txt", "wanted")
	l := newList(paths)
	for q, want := range map[string]string{"wanted": "wanted",
		"wanted.go": "x/go/deep/in/there/wanted.go", "WANTED.GO.": "Wanted.go.txt"} {
		got, err := l.candidates(t.Context(), q, 5)
		if err != nil || len(got) == 0 || got[0] != want {
			t.Errorf("%q gives %v %v, want %s", q, got, err, want)
		}
	}
	got, err := l.candidates(t.Context(), "go", 5)
	if err != nil || len(got) > maxRanked || got[0] == "" {
		t.Errorf("%d candidates, %v", len(got), err)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte("H 100644 587be6b4c3f93f93c489c0111bba5596147a26cb 0\ta/x\x00? b\x00"))
	f.Add([]byte("R a\x00? sub/\x00"))
	f.Add([]byte("H"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var again []byte
		err := records(bytes.NewReader(b), func(record string) error {
			again = append(append(again, record...), 0)
			return nil
		})
		if err == nil && !bytes.Equal(again, b) || !bytes.HasPrefix(b, again) {
			t.Errorf("%q was read as %q, %v", b, again, err)
		}
	})
}

// However long the first look takes, nothing is answered before something is known:
// no files would be a wrong answer.
func TestAFirstQuestionWaitsForSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := New(Config{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		x.ended = make(chan struct{}) // a look is under way
		answer := make(chan []string, 1)
		ask := func(ctx context.Context) {
			l, err := x.known(ctx)
			if err != nil {
				answer <- nil
				return
			}
			answer <- l.paths
		}
		given, giveUp := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{given, t.Context()} {
			go ask(ctx)
		}
		time.Sleep(longestLook) // in the bubble's time
		synctest.Wait()
		if len(answer) > 0 {
			t.Fatalf("answered with %q", <-answer)
		}
		giveUp()
		if got := <-answer; got != nil {
			t.Errorf("a question that was given up is answered with %q", got)
		}
		x.mu.Lock()
		x.list = newList([]string{"a.txt"})
		close(x.ended)
		x.mu.Unlock()
		if got := <-answer; len(got) != 1 {
			t.Errorf("answered with %q", got)
		}
	})
}
