package convo

import (
	"context"
	"sync"
)

// mostWaiting is how many bytes of what an agent reports wait for its session: more stays in the
// agent's pipe. One message alone may be larger.
const mostWaiting = 4 << 20

// overhead is what a report counts for beside its bytes.
const overhead = 512

// loop does what it is given, one thing at a time and in order.
type loop struct {
	life      context.Context     // ends with the last thing that is done
	contained func(func()) func() // see [Conversation.Contained]
	done      chan struct{}       // closed when nothing more is done
	wake      chan struct{}       // has room for one

	mu      sync.Mutex // guards what follows
	posted  []posted
	waiting int       // bytes of the reports in posted
	room    sync.Cond // of waiting and ended
	ended   bool
}

type posted struct {
	do     func()
	weight int // 0 for what is not a report
}

func newLoop(life context.Context, contained func(func()) func()) *loop {
	l := &loop{
		life:      life,
		contained: contained,
		done:      make(chan struct{}),
		wake:      make(chan struct{}, 1),
	}
	l.room.L = &l.mu
	return l
}

func (l *loop) run() {
	defer close(l.done)
	defer l.settle(func() { l.ended = true })
	for {
		l.mu.Lock()
		todo := l.posted
		l.posted = nil
		l.mu.Unlock()
		for i, p := range todo {
			todo[i] = posted{} // what it holds is let go
			l.contained(p.do)()
			if p.weight > 0 {
				l.settle(func() { l.waiting -= p.weight })
			}
		}
		if len(todo) > 0 {
			continue
		}
		select {
		case <-l.wake:
		case <-l.life.Done():
			return
		}
	}
}

// settle makes a change that what waits in Receive waits for.
func (l *loop) settle(change func()) {
	l.mu.Lock()
	change()
	l.mu.Unlock()
	l.room.Broadcast()
}

// Post has the loop do f. After Close it does not.
func (l *loop) Post(f func()) { l.post(posted{do: f}) }

func (l *loop) post(p posted) {
	l.mu.Lock()
	l.posted = append(l.posted, p)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Receive has the loop do f, which handles a report of the agent's of so many bytes, and waits
// while too many wait. It is for the goroutine that reads what the agent writes, never for the
// loop.
func (l *loop) Receive(bytes int, f func()) {
	weight := bytes + overhead
	l.mu.Lock()
	for l.waiting > 0 && l.waiting+weight > mostWaiting && !l.ended {
		l.room.Wait()
	}
	l.waiting += weight
	l.mu.Unlock()
	l.post(posted{f, weight})
}

// Do has the loop do f and waits for it, unless the conversation is closed.
func (l *loop) Do(f func()) {
	did := make(chan struct{})
	l.Post(func() { defer close(did); f() })
	select {
	case <-did:
	case <-l.done:
	}
}
