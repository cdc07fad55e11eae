package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// pumpLinger is how long a pump stays without a reader: a browser that loads a page follows it a
// moment later, and what the page was folded from need not be read again.
const pumpLinger = 10 * time.Second

// topicPumps is the pumps of a server. Its methods may be called concurrently.
type topicPumps struct {
	log *slog.Logger
	wg  sync.WaitGroup // the pumps' goroutines

	mu      sync.Mutex // guards what follows, and what pumps say they have guarded
	byTopic map[string]*pump
	closed  bool
}

type pump struct {
	ctx    context.Context // ends when the pump does
	cancel context.CancelFunc

	ready  chan struct{} // closed when source was made, or could not be
	source pumpSource    // read after begun; nil after a fault

	readers int         // guarded by topicPumps.mu
	idle    *time.Timer // guarded by topicPumps.mu; ends the pump when no reader comes
}

// errNoSource is what the readers of a pump get whose source could not be made; why is logged.
var errNoSource = errors.New("the source of a stream could not be made")

// newPumps starts nothing.
func newPumps(log *slog.Logger) *topicPumps {
	return &topicPumps{log: log, byTopic: map[string]*pump{}}
}

// pumpSource is where a topic's frames come from. It has subscribed when it is made,
// which may wait for a session: only this topic's readers wait with it.
type pumpSource interface {
	// Run publishes until ctx ends or the subscription is lost.
	Run(ctx context.Context)
}

// Acquire makes sure that a pump runs for the topic, with a source of begin if
// none does. The reader's context ends with the pump: when that lost its
// subscription, what readers have is incomplete, so they have to come
// back. The caller releases when the reader has gone. It is an error if begin panics.
func (p *topicPumps) Acquire(reader context.Context, topic string,
	begin func() pumpSource) (ctx context.Context, src pumpSource, release func(), err error) {
	x := p.join(topic, begin)
	<-x.ready
	if x.source == nil {
		return nil, nil, nil, errNoSource
	}
	ctx, leave := context.WithCancel(reader)
	stop := context.AfterFunc(x.ctx, leave)
	return ctx, x.source, func() {
		stop()
		leave()
		p.mu.Lock()
		defer p.mu.Unlock()
		if x.readers--; x.readers == 0 && !p.closed {
			x.idle = time.AfterFunc(pumpLinger, func() { p.release(x) })
		}
	}, nil
}

// join counts a reader of the topic's pump, which it starts if none runs.
func (p *topicPumps) join(topic string, begin func() pumpSource) *pump {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.byTopic[topic]
	if x == nil || x.ctx.Err() != nil {
		x = p.start(topic, begin)
	}
	x.readers++
	if x.idle != nil {
		x.idle.Stop()
	}
	return x
}

// start runs a pump. p.mu is held.
func (p *topicPumps) start(topic string, begin func() pumpSource) *pump {
	x := &pump{ready: make(chan struct{})}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	if p.closed {
		x.cancel() // the source ends as soon as it is run
	}
	p.byTopic[topic] = x
	p.wg.Go(func() {
		defer p.end(topic, x)
		x.begin(begin)
		x.source.Run(x.ctx)
	})
	return x
}

func (x *pump) begin(begin func() pumpSource) {
	defer close(x.ready)
	x.source = begin()
}

// end keeps a fault in its topic: the readers come back to a new pump.
func (p *topicPumps) end(topic string, x *pump) {
	if fault := recover(); fault != nil {
		p.log.Error("panic", "in", "a stream's source", "type", fmt.Sprintf("%T", fault), "stack",
			string(debug.Stack()))
	}
	x.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byTopic[topic] == x {
		delete(p.byTopic, topic)
	}
}

// release ends a pump without readers.
func (p *topicPumps) release(x *pump) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x.readers == 0 {
		x.cancel()
	}
}

// Close ends all pumps and waits for them.
func (p *topicPumps) Close() {
	p.mu.Lock()
	p.closed = true
	for _, x := range p.byTopic {
		x.cancel()
		if x.idle != nil {
			x.idle.Stop()
		}
	}
	p.mu.Unlock()
	p.wg.Wait()
}
