package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/witness"
	"webchat/internal/page/pagetest"
)

// reader follows one stream of a session through a line, and comes back with the
// last id it has when the line is cut, as a browser does.
type reader struct {
	s    *server
	base string // where the line begins
	path string
	take func(witness.Frame) error // every whole frame, in order

	mu    sync.Mutex // guards what follows
	place string     // the last id
	tries int
	err   error // what cannot be
}

// run reads until ctx ends or something is wrong.
func (r *reader) run(ctx context.Context) {
	for ctx.Err() == nil && r.wrong() == nil {
		header := []string{"Accept: text/event-stream"}
		path := r.path
		r.mu.Lock()
		r.tries++
		if r.place != "" {
			header = append(header, "Last-Event-ID: "+r.place)
		}
		r.mu.Unlock()
		res, err := r.s.ask(ctx, r.base, "GET", path, "", header...)
		if err != nil {
			continue // the line was cut before the answer
		}
		if res.StatusCode == http.StatusServiceUnavailable { // it stops: come back
			_ = res.Body.Close()
			continue
		}
		if res.StatusCode != http.StatusOK {
			r.fail(fmt.Errorf("the stream answers %s", res.Status))
		}
		_ = witness.Frames(res.Body, func(f witness.Frame) bool { // a cut is what is tried here
			r.mu.Lock()
			defer r.mu.Unlock()
			if f.ID != "" {
				r.place = f.ID
			}
			if err := r.take(f); err != nil && r.err == nil {
				r.err = err
			}
			return r.err == nil
		})
		_ = res.Body.Close()
	}
}

func (r *reader) wrong() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

func (r *reader) at() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, _ := strconv.Atoi(r.place) // nothing yet is 0
	return n
}

// screen is what a reader of the page's stream has before it.
type screen struct {
	t   *testing.T
	dom *pagetest.DOM
}

func (v *screen) take(f witness.Frame) error {
	if strings.Contains(f.Data, `"type":"stream.closing"`) {
		return nil // it comes back anyway
	}
	if strings.HasPrefix(f.Data, `{"type"`) {
		return fmt.Errorf("the stream says %.80s", f.Data)
	}
	v.dom.Apply([]byte(f.Data))
	if v.t.Failed() {
		return fmt.Errorf("a frame does not fit the page")
	}
	return nil
}

// load reads the page as it is now.
func (s *server) load(id string) (*pagetest.DOM, string) {
	s.t.Helper()
	d := pagetest.Parse(s.t, s.get("/sessions/"+id))
	seq, _ := pagetest.Attr(pagetest.ByID(d.Root, "turns"), "data-seq")
	return d, seq
}

// prompts are turns of many kinds; none waits for an answer.
var prompts = []string{
	"stream 120 words", "stream 25 words slowly", "show me go.mod", "hello",
	"show me docs/harbour.md then stream 60 words", "show me nothing.txt",
	"run sleep 0.1 && echo done; seq 300",
}

// act runs one turn to its end.
func (s *server) act(id string, rnd *rand.Rand) {
	if rnd.IntN(5) == 0 {
		s.do("POST", "/api/sessions/"+id+"/display",
			`{"tool":"run_and_display","arguments":{"command":"seq 50"}}`)
		return
	}
	b, err := json.Marshal(map[string]string{"content": prompts[rnd.IntN(len(prompts))]})
	if err != nil {
		s.t.Fatal(err)
	}
	s.do("POST", "/api/sessions/"+id+"/messages?wait=true", string(b))
}

func cutRounds(t *testing.T, cuts int) {
	rnd := witness.Seeded(t)
	s := newServer(t, "--permissions", "allow", "--output-ttl", "1000h")
	s.up()
	id := s.session()
	line := newProxy(t, rand.New(rand.NewPCG(rnd.Uint64(), 1)), s.url)

	plain, cut := witness.NewStory(), witness.NewStory()
	first, seq := s.load(id)
	second, _ := s.load(id)
	steady, shaken := &screen{t, first}, &screen{t, second}
	api, stream := "/api/sessions/"+id+"/events", "/sessions/"+id+"/stream?after="+seq
	readers := []*reader{
		{s: s, base: s.url, path: api, take: plain.Take},
		{s: s, base: line.url(), path: api, take: cut.Take},
		{s: s, base: s.url, path: stream, take: steady.take, place: seq},
		{s: s, base: line.url(), path: stream, take: shaken.take, place: seq},
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, r := range readers {
		all.Go(func() { r.run(ctx) })
	}
	turns := 0
	for ; line.count() < cuts && !t.Failed(); turns++ {
		s.act(id, rnd)
	}
	line.heal() // the last of them still have to see the end
	s.settle(id, readers, plain, cut, steady, shaken)
	stop()
	all.Wait()
	t.Logf("%d cuts in %d turns, %d and %d connections", line.count(), turns, readers[1].tries,
		readers[3].tries)
}

// settle waits until every reader is at the end of the log, and compares what they
// have with it and with the page as it is now.
func (s *server) settle(id string, readers []*reader, plain, cut *witness.Story, steady,
	shaken *screen) {
	t := s.t
	t.Helper()
	log := s.logOf(id)
	deadline := time.Now().Add(patience)
	for i, r := range readers {
		for r.at() < len(log) && r.wrong() == nil {
			if time.Now().After(deadline) {
				t.Errorf("reader %d ends at %d of %d events", i, r.at(), len(log))
				break
			}
			s.get("/healthz") // a moment passes
		}
		if err := r.wrong(); err != nil {
			t.Errorf("reader %d: %v", i, err)
		}
		r.mu.Lock() // what it has does not change while it is looked at
		defer r.mu.Unlock()
	}
	witness.Same(t, "uncut", plain, log)
	witness.Same(t, "cut", cut, log)
	loaded, _ := s.load(id)
	want := loaded.State()
	for name, v := range map[string]*screen{"uncut": steady, "cut": shaken} {
		if got := v.dom.State(); got != want {
			t.Errorf("the %s page is not the one a reload gives:\n%s", name, firstDifference(got, want))
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			from := max(0, i-3)
			return fmt.Sprintf("got\n%s\nwant\n%s", strings.Join(a[from:min(len(a), i+5)], "\n"),
				strings.Join(b[from:min(len(b), i+5)], "\n"))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestCuts: a reader whose line is cut at random bytes ends up with what one has
// whose line is good: each event once, in order, the same text, the same page.
func TestCuts(t *testing.T) { cutRounds(t, 50) }

func TestSoakCuts(t *testing.T) {
	witness.Soak(t)
	cutRounds(t, 1000)
}

// TestRestarts: readers follow while the server stops and comes back, and is
// killed and comes back, in the middle of turns; they end up with what the log has.
func TestRestarts(t *testing.T) {
	rnd := witness.Seeded(t)
	// Outputs survive, or a page that is loaded would show them as expired.
	s := newServer(t, "--permissions", "allow", "--output-ttl", "1000h", "--keep-outputs", "1000h")
	s.up()
	id := s.session()
	plain, other := witness.NewStory(), witness.NewStory()
	plain.Lost, other.Lost = 200, 200 // what a quarter of a second may say
	first, seq := s.load(id)
	second, _ := s.load(id)
	one, two := &screen{t, first}, &screen{t, second}
	api, stream := "/api/sessions/"+id+"/events", "/sessions/"+id+"/stream?after="+seq
	readers := []*reader{{s: s, base: s.url, path: api, take: plain.Take},
		{s: s, base: s.url, path: api, take: other.Take},
		{s: s, base: s.url, path: stream, take: one.take, place: seq},
		{s: s, base: s.url, path: stream, take: two.take, place: seq}}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, r := range readers {
		all.Go(func() { r.run(ctx) })
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGKILL,
		syscall.SIGTERM} {
		s.act(id, rnd)
		s.do("POST", "/api/sessions/"+id+"/messages", `{"content":"stream 200 words slowly"}`)
		wait := time.NewTimer(time.Duration(rnd.Int64N(int64(time.Second))))
		<-wait.C
		s.end(signal)
		s.up()
	}
	s.act(id, rnd)
	s.settle(id, readers, plain, other, one, two)
	stop()
	all.Wait()
}
