//go:build unix

package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"webchat/internal/e2e/witness"
)

// trouble is what happens at random, with its weight.
var trouble = []struct {
	name   string
	weight int
}{{"kill", 4}, {"vanish", 1}, {"freeze", 2}, {"term", 2}, {"crash", 1}, {"cut", 6}, {"hole", 2},
	{"swallow", 3}, {"delay", 2}, {"half", 4}}

// frozen is how long a replica is stopped: others have what it had when it goes on.
const frozen = lease + time.Second

// storm makes trouble for a cluster and counts it.
type storm struct {
	c      *cluster
	rnd    *rand.Rand
	counts map[string]int
	frozen *replica
	thaw   <-chan time.Time

	patience time.Duration // with what has to come after it
}

func newStorm(c *cluster, rnd *rand.Rand) *storm {
	return &storm{c: c, rnd: rnd, counts: map[string]int{}, patience: patience}
}

// blow makes trouble of some kinds until a time has passed; nil are all kinds.
func (s *storm) blow(d time.Duration, kinds []string) {
	end, over := time.After(d), time.Now().Add(d)
	for n := 0; ; n++ {
		kind := s.kind(kinds)
		if n == 0 && slices.Contains(kinds, "freeze") {
			kind = "freeze" // it takes longest
		}
		late := kind == "freeze" && n > 0 && time.Until(over) < frozen // it would outlast the rest
		if !late && s.make(kind) {
			s.counts[kind]++
		}
		next := time.After(100*time.Millisecond +
			time.Duration(s.rnd.Int64N(int64(900*time.Millisecond))))
		for next != nil {
			select {
			case <-end:
				s.calm()
				return
			case <-s.thaw:
				s.melt()
			case <-next:
				next = nil
			}
		}
	}
}

func (s *storm) kind(of []string) string {
	for {
		n := s.rnd.IntN(27)
		for _, k := range trouble {
			if n -= k.weight; n < 0 {
				if slices.Contains(of, k.name) {
					return k.name
				}
				break
			}
		}
	}
}

// make makes trouble; false if that cannot be now.
func (s *storm) make(kind string) bool {
	r := s.c.replicas[s.rnd.IntN(len(s.c.replicas))]
	if r == s.frozen {
		return false
	}
	switch kind {
	case "kill":
		return r.signal(syscall.SIGKILL)
	case "vanish":
		return r.vanish()
	case "term":
		return r.signal(syscall.SIGTERM)
	case "freeze":
		if s.frozen != nil || !r.signal(syscall.SIGSTOP) {
			return false
		}
		s.frozen, s.thaw = r, time.After(frozen)
	case "crash":
		s.c.engine.Stop(syscall.SIGQUIT)
		<-time.After(time.Duration(s.rnd.Int64N(int64(time.Second))))
		s.c.engine.Run(s.c.t)
	case "cut":
		r.line.cut()
	case "half":
		r.line.set(half, 0)
	case "hole", "swallow", "delay":
		f := map[string]fault{"hole": hole, "swallow": swallow, "delay": delay}[kind]
		r.line.set(f, time.Duration(s.rnd.Int64N(int64(300*time.Millisecond))))
		time.AfterFunc(time.Duration(s.rnd.Int64N(int64(2*time.Second))), func() { r.line.set(none, 0) })
	}
	return true
}

// melt lets go on what was frozen.
func (s *storm) melt() {
	if s.frozen != nil {
		s.frozen.signal(syscall.SIGCONT)
	}
	s.frozen, s.thaw = nil, nil
}

// calm ends what lasts.
func (s *storm) calm() {
	if s.frozen != nil {
		<-s.thaw
		s.melt()
	}
	for _, r := range s.c.replicas {
		r.line.set(none, 0)
	}
	s.c.ready()
}

// drain stops one replica after the other in order, each when the one before it is back.
func (s *storm) drain(times int) {
	for n := range times {
		r := s.c.replicas[n%len(s.c.replicas)]
		before := r.lives()
		if !r.signal(syscall.SIGTERM) {
			s.c.t.Fatalf("replica %d does not run", r.number)
		}
		s.counts["drain"]++
		s.c.eventually(fmt.Sprintf("replica %d ends in order and is back", r.number), func() bool {
			return r.lives() > before && s.c.status(r.url(), "/readyz") == http.StatusOK
		})
	}
}

// round has sessions written to and read while there is trouble, and then compares what everybody
// saw with the log. It returns how many turns were interrupted, and the longest time a reader had
// no stream.
func (s *storm) round(t *testing.T, round, sessions int,
	trouble func()) (interrupted int, away time.Duration) {
	t.Helper()
	c, rnd := s.c, s.rnd
	var talks []*talk
	var writers, readers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	again := func() *rand.Rand { return rand.New(rand.NewPCG(rnd.Uint64(), 1)) } // each has its own
	for i := range sessions {
		k := &talk{
			name:  fmt.Sprintf("r%ds%d", round, i+1),
			id:    c.session(c.anywhere(rnd)),
			acked: map[int]bool{},
		}
		for range 2 {
			r, own := &reader{story: witness.NewStory()}, again()
			r.story.Lost = 1 << 20 // what a message was that never became whole
			k.readers = append(k.readers, r)
			readers.Go(func() { r.read(ctx, c, k.id, func() string { return c.anywhere(own) }) })
		}
		own := again()
		writers.Go(func() { k.write(writing, c, own) })
		talks = append(talks, k)
	}
	trouble()
	stopWriting()
	writers.Wait()
	var logs [][]witness.Event
	for _, k := range talks { // progress: each takes a prompt, also where some waited
		c.must(http.StatusAccepted, c.anywhere(rnd), "POST", "/api/sessions/"+k.id+"/messages",
			`{"content":"hello","messageId":"last"}`)
	}
	for _, k := range talks {
		var log []witness.Event
		if !within(s.patience, func() bool {
			log = c.logOf(c.anywhere(rnd), k.id)
			return answered(log, "last")
		}) {
			t.Errorf("%s: its last prompt has no turn, or a turn no end", k.name)
		}
		logs = append(logs, log)
		for i, r := range k.readers {
			if !within(s.patience, func() bool { return r.has() >= len(log) || r.wrong() != nil }) {
				t.Errorf("%s: reader %d has %d events of %d", k.name, i, r.has(), len(log))
			}
		}
	}
	stop()
	readers.Wait()
	events, acked, repeated, streams := 0, 0, 0, 0
	for i, k := range talks {
		k.judge(t, logs[i])
		events, acked, repeated = events+len(logs[i]), acked+len(k.acked), repeated+k.again
		for _, r := range k.readers {
			streams, away = streams+r.streams, max(away, r.away)
		}
		for _, e := range logs[i] {
			if e.Type == "turn.end" && e.Data.Outcome == "interrupted" {
				interrupted++
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(c.workspace, "acts"))
	if err != nil {
		t.Error(err)
	}
	lines := acts(t, string(b))
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("soak: %d events, %d prompts acknowledged, %d of their requests made again, %d streams, "+
		"%d commands; so far %v; lives that ended: %v",
		events, acked, repeated, streams, lines, s.counts, c.ends)
	return interrupted, away
}

// answered reports whether the turn of a message has begun, and all turns have ended.
func answered(log []witness.Event, message string) (begun bool) {
	open := 0
	for _, e := range log {
		switch e.Type {
		case "turn.start":
			open++
			begun = begun || e.Data.MessageID == message
		case "turn.end":
			open--
		}
	}
	return begun && open == 0
}

func kinds() (all []string) {
	for _, k := range trouble {
		all = append(all, k.name)
	}
	return all
}
