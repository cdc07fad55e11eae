package server

import (
	"context"
	"sync"
)

// pumps moves what rooms report to the topics of the hub: one subscription and
// one goroutine for all readers of a topic, from its first reader to its last.
type pumps struct {
	wg *sync.WaitGroup

	mu      sync.Mutex // guards byTopic and the pumps' counts
	byTopic map[string]*pump
}

type pump struct {
	source  source
	ctx     context.Context // ends when the pump does
	cancel  context.CancelFunc
	readers int
}

// source is where a topic's frames come from. It has subscribed when it is made.
type source interface {
	// run publishes until ctx ends or the subscription is lost.
	run(ctx context.Context)
}

// acquire makes sure that a pump runs for the topic, with a source of begin if
// none does. The reader's context ends with the pump: when that lost its
// subscription, what readers have is not whole any more, so they have to come
// back. The caller releases when the reader has gone.
func (p *pumps) acquire(reader context.Context, topic string, begin func() source) (ctx context.Context, src source, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.byTopic[topic]
	if x == nil || x.ctx.Err() != nil {
		x = &pump{source: begin()}
		x.ctx, x.cancel = context.WithCancel(context.Background())
		p.byTopic[topic] = x
		p.wg.Go(func() {
			defer x.cancel()
			x.source.run(x.ctx)
		})
	}
	x.readers++
	ctx, leave := context.WithCancel(reader)
	stop := context.AfterFunc(x.ctx, leave)
	return ctx, x.source, func() {
		stop()
		leave()
		p.mu.Lock()
		defer p.mu.Unlock()
		if x.readers--; x.readers == 0 {
			x.cancel()
			if p.byTopic[topic] == x {
				delete(p.byTopic, topic)
			}
		}
	}
}
