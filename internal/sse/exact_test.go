package sse

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"
)

// history is a log as a session keeps it: under one lock a frame gets its place, is
// kept, and is published.
type history struct {
	topic *Topic

	mu      sync.Mutex
	grown   sync.Cond
	entries []Frame
}

func newHistory(topic *Topic) *history {
	l := &history{topic: topic}
	l.grown.L = &l.mu
	return l
}

func (l *history) append(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	start := len(l.entries)
	for range n {
		l.entries = append(l.entries, number(int64(len(l.entries)+1)))
	}
	l.topic.Publish(l.entries[start:]...)
	l.grown.Broadcast()
}

func (l *history) wait(length int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.entries) < length {
		l.grown.Wait()
	}
}

func (l *history) after(pos int64, limit int) []Frame {
	l.mu.Lock()
	defer l.mu.Unlock()
	if pos >= int64(len(l.entries)) {
		return nil
	}
	rest := l.entries[pos:]
	return rest[:min(limit, len(rest))]
}

// replay reads the log page by page until a page comes back empty.
func (l *history) replay(pos int64,
	page int) func(context.Context, func(Frame) error) (int64, error) {
	return func(_ context.Context, send func(Frame) error) (int64, error) {
		for {
			entries := l.after(pos, page)
			if len(entries) == 0 {
				return pos, nil
			}
			for _, f := range entries {
				if err := send(f); err != nil {
					return pos, err
				}
				pos = f.Pos
			}
		}
	}
}

// Every way to lay six frames around the steps of a join: before the attach, before
// the log is read, between reading and the end of the replay, and after.
func TestJoinAtEveryPoint(t *testing.T) {
	const total = 6
	for before := 0; before <= total; before++ {
		for beforeRead := 0; before+beforeRead <= total; beforeRead++ {
			for inReplay := 0; before+beforeRead+inReplay <= total; inReplay++ {
				name := fmt.Sprintf("%d,%d,%d", before, beforeRead, inReplay)
				t.Run(name, func(t *testing.T) {
					joinAt(t, total, before, beforeRead, inReplay)
				})
			}
		}
	}
}

func joinAt(t *testing.T, total, before, beforeRead, inReplay int) {
	h := newHub(t, Config{})
	l := newHistory(h.Topic("a"))
	l.append(before)
	srv, _ := topicServer(t, l.topic, func(*http.Request) func(context.Context,
		func(Frame) error) (int64, error) {
		return func(_ context.Context, send func(Frame) error) (pos int64, err error) {
			l.append(beforeRead)
			past := l.after(0, total)
			l.append(inReplay)
			for _, f := range past {
				if err := send(f); err != nil {
					return 0, err
				}
				pos = f.Pos
			}
			return pos, nil
		}
	})
	_, p := get(t, srv.URL)
	go l.append(total - before - beforeRead - inReplay)
	for pos := 1; pos <= total; pos++ {
		p.want(t, strconv.Itoa(pos))
	}
	l.topic.Publish(Frame{Data: []byte("end")}) // nothing more came between
	p.want(t, "end")
}

// Publishers append while clients come, are cut, and come back with the last id
// they saw: each reads every entry after the one it asked for, once and in order.
func TestReplayAndLiveAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		publishers := rapid.IntRange(1, 4).Draw(rt, "publishers")
		appends := make([][]int, publishers) // sizes of each publisher's appends
		total := 0
		for i := range appends {
			appends[i] = rapid.SliceOfN(rapid.IntRange(1, 9), 1, 40).Draw(rt, "appends")
			for _, n := range appends[i] {
				total += n
			}
		}
		type reader struct{ joinAt, after, page, cutEvery int }
		readers := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) reader {
			joinAt := rapid.IntRange(0, total).Draw(rt, "joinAt")
			return reader{
				joinAt:   joinAt,
				after:    rapid.IntRange(0, joinAt).Draw(rt, "after"),
				page:     rapid.IntRange(1, 50).Draw(rt, "page"),
				cutEvery: rapid.IntRange(5, 300).Draw(rt, "cutEvery"),
			}
		}), 1, 6).Draw(rt, "readers")

		h := newHub(t, Config{})
		l := newHistory(h.Topic("a"))
		srv, _ := topicServer(t, l.topic, func(r *http.Request) func(context.Context,
			func(Frame) error) (int64, error) {
			after, _, _ := ParseLastEventID(r)
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			return l.replay(after, page)
		})
		var all sync.WaitGroup
		for _, sizes := range appends {
			all.Go(func() {
				for _, n := range sizes {
					l.append(n)
				}
			})
		}
		failures := make(chan string, len(readers))
		for _, rd := range readers {
			all.Go(func() {
				l.wait(rd.joinAt)
				url := fmt.Sprintf("%s/?page=%d", srv.URL, rd.page)
				if err := readAll(t, url, rd.after, total, rd.cutEvery); err != nil {
					failures <- fmt.Sprintf("%+v: %v", rd, err)
				}
			})
		}
		all.Wait()
		close(failures)
		for f := range failures {
			rt.Error(f)
		}
		srv.Close()
		if n := len(h.open()); n != 0 {
			rt.Errorf("%d streams are left", n)
		}
	})
}

func readAll(t *testing.T, url string, after, total, cutEvery int) error {
	for after < total {
		res, p := get(t, url, "Last-Event-ID", strconv.Itoa(after))
		for range cutEvery {
			if after == total {
				break
			}
			g, err := p.next()
			if err != nil {
				return fmt.Errorf("after %d: %w", after, err)
			}
			after++
			if want := strconv.Itoa(after); g.data != want || g.lastID != want {
				return fmt.Errorf("got %+v, want %s", g, want)
			}
		}
		res.Body.Close()
	}
	return nil
}

// A client that has the header misses nothing from then on, not even what no log
// holds: the header waits until the replay has looked at the past.
func TestHeaderWaitsForTheReplay(t *testing.T) {
	var look chan struct{} // made in the bubble, as its waiting must be seen
	inBubble(t, Config{}, func(h *Hub, w http.ResponseWriter, r *http.Request) error {
		return h.Topic("a").Serve(w, r, func(context.Context, func(Frame) error) (int64, error) {
			<-look
			return 1, nil
		})
	}, func(t *testing.T, h *Hub, p *pipes) {
		look = make(chan struct{})
		var looked atomic.Bool
		go func() {
			synctest.Wait()
			h.Topic("a").Publish(number(1)) // the past holds it
			looked.Store(true)
			close(look)
		}()
		conn, s := p.get(t)
		if !looked.Load() {
			t.Error("the header came before the replay had looked")
		}
		h.Topic("a").Publish(number(2))
		s.want(t, "2")
		conn.Close()
		wantErr(t, <-p.results, nil)
	})
}
