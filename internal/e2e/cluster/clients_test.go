//go:build unix

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"webchat/internal/e2e/witness"
)

// talk is one session with those who write to it and read it.
type talk struct {
	name, id string
	readers  []*reader

	mu    sync.Mutex   // guards what follows
	sent  int          // prompts
	acked map[int]bool // those that were acknowledged
	again int          // requests that were made again
}

// message is the id of a session's prompt.
func (k *talk) message(n int) string { return fmt.Sprintf("%s-%d", k.name, n) }

// write sends one prompt after the other until ctx ends, each until it is acknowledged.
func (k *talk) write(ctx context.Context, c *cluster, rnd *rand.Rand) {
	for ctx.Err() == nil {
		k.mu.Lock()
		k.sent++
		n := k.sent
		k.mu.Unlock()
		content := fmt.Sprintf("run `echo %s $LIFE %d >> acts`", k.name, n)
		if rnd.IntN(2) == 0 {
			content += " then stream 12 words slowly"
		}
		b, err := json.Marshal(map[string]string{"content": content, "messageId": k.message(n)})
		if err != nil {
			c.t.Error(err)
			return
		}
		wait, within := "", 2*time.Second
		for tries := 0; ctx.Err() == nil; tries++ {
			if wait = ""; tries == 0 && rnd.IntN(2) == 0 {
				wait = "?wait=true" // the answer comes when the turn has ended
			}
			status, text, err := c.do(within, c.anywhere(rnd), "POST", "/api/sessions/"+k.id+"/messages"+
				wait, string(b))
			if err == nil && (status == http.StatusAccepted || status == http.StatusOK) {
				k.mu.Lock()
				k.acked[n], k.again = true, k.again+tries
				k.mu.Unlock()
				break
			}
			if err == nil && !passing(status) && status != http.StatusConflict &&
				status != http.StatusTooManyRequests {
				c.t.Errorf("a prompt: %d %s", status, text)
				return
			}
			pause(ctx, 50*time.Millisecond)
		}
		pause(ctx, time.Duration(rnd.Int64N(int64(500*time.Millisecond))))
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// reader follows a session, now by one replica and now by another.
type reader struct {
	mu      sync.Mutex // guards what follows
	story   *witness.Story
	place   string // the last id
	streams int
	err     error // what cannot be
	left    time.Time
	away    time.Duration // the longest time without a stream
}

// silence is after what time without a frame a reader looks for another replica.
const silence = 3 * time.Second

// read reads until ctx ends or something is wrong, each time where a function says.
func (r *reader) read(ctx context.Context, c *cluster, id string, where func() string) {
	for ctx.Err() == nil && r.wrong() == nil {
		r.stream(ctx, c, id, where())
		pause(ctx, 20*time.Millisecond)
	}
}

func (r *reader) stream(ctx context.Context, c *cluster, id, base string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := time.AfterFunc(silence, cancel)
	defer silent.Stop()
	header := []string{"Accept: text/event-stream"}
	r.mu.Lock()
	r.streams++
	if r.place != "" {
		header = append(header, "Last-Event-ID: "+r.place)
	}
	r.mu.Unlock()
	res, err := c.ask(ctx, base, "GET", "/api/sessions/"+id+"/events", "", header...)
	if err != nil {
		return // no answer: try again
	}
	defer res.Body.Close()
	if passing(res.StatusCode) {
		return
	}
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(res.Body, 300))
		r.fail(fmt.Errorf("a stream answers %s by %s: %s", res.Status, base, b))
		return
	}
	r.joined()
	defer r.ended()
	_ = witness.Frames(res.Body, func(f witness.Frame) bool { // it ends with its server
		silent.Reset(silence)
		r.mu.Lock()
		defer r.mu.Unlock()
		if strings.Contains(f.Data, `"type":"stream.closing"`) {
			return false
		}
		if err := r.story.Take(f); err != nil {
			r.err = fmt.Errorf("by %s: %w", base, err)
		} else if f.ID != "" {
			r.place = f.ID
		}
		return r.err == nil
	})
}

func (r *reader) joined() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.left.IsZero() {
		r.away = max(r.away, time.Since(r.left))
	}
}

func (r *reader) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = time.Now()
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

// saw reports whether an event that was logged holds a text.
func (r *reader) saw(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.story.Logged, func(e string) bool {
		return strings.Contains(e, text)
	})
}

func (r *reader) has() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.story.Logged)
}

// judge compares what clients saw of a session with its log, once nothing goes on in it.
func (k *talk) judge(t *testing.T, log []witness.Event) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	wrong := func(format string, args ...any) {
		t.Helper()
		t.Errorf(k.name+": "+format, args...)
	}
	times := map[string]int{}
	turns := map[string]int{}
	for _, e := range log {
		switch e.Type {
		case "user.message":
			times[e.Data.MessageID]++
		case "turn.end":
			turns[e.Data.TurnID]++
		}
	}
	for n := range k.sent {
		switch got := times[k.message(n+1)]; {
		case got > 1:
			wrong("prompt %d is %d times in the log", n+1, got)
		case got == 0 && k.acked[n+1]:
			wrong("prompt %d was acknowledged and is not in the log", n+1)
		}
	}
	for id, n := range turns {
		if n > 1 {
			wrong("turn %s ended %d times", id, n)
		}
	}
	witness.Closed(t, k.name, log)
	for i, r := range k.readers {
		if err := r.wrong(); err != nil {
			wrong("reader %d: %v", i, err)
		}
		witness.Same(t, fmt.Sprint(k.name, ", reader ", i), r.story, log)
	}
}

// acts checks what commands left: of each session no line twice, and none of an owner after one of
// a later owner.
func acts(t *testing.T, text string) (lines int) {
	t.Helper()
	done, owner, over := map[string]bool{}, map[string]string{}, map[string]bool{}
	for line := range strings.Lines(text) {
		lines++
		parts := strings.Fields(line)
		if len(parts) != 3 {
			t.Errorf("a command left %q", line)
			continue
		}
		session, life, act := parts[0], parts[1], parts[0]+" "+parts[2]
		if done[act] {
			t.Errorf("the command of prompt %s of %s ran twice", parts[2], session)
		}
		done[act] = true
		if was := owner[session]; was != life {
			over[session+" "+was] = true
			if over[session+" "+life] {
				t.Errorf("life %s acted for %s after life %s had it", life, session, was)
			}
			owner[session] = life
		}
	}
	return lines
}
