package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"webchat/internal/agent"
	"webchat/internal/consent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/policy"
)

// broker is a model of who may act: what the log and the effects must agree with.
type broker struct {
	t *testing.T
	*rig
	mu       sync.Mutex // guards effects
	effects  map[string]int
	calls    []string // all ever made
	requests map[string]string
	state    map[string]error // of each request: nil is open
	until    map[string]time.Time
	resource map[string]string
	granted  map[string]bool
	raced    map[string]bool // calls whose decision raced with a stop
}

func newBroker(t *testing.T) *broker {
	b := &broker{
		t:        t,
		effects:  map[string]int{},
		requests: map[string]string{},
		state:    map[string]error{},
		until:    map[string]time.Time{},
		resource: map[string]string{},
		granted:  map[string]bool{},
		raced:    map[string]bool{},
	}
	b.start(newMemory())
	var err error
	if b.s, err = b.create(context.Background()); err != nil {
		t.Fatal(err)
	}
	return b
}

// start runs a process over mem.
func (b *broker) start(mem *memory) {
	b.rig = newRig(b.t, mem, func(r *rig, c *Config) {
		c.Policy = policy.New(policy.Config{Workspace: "/w"})
		r.tools.tools = []agent.Tool{tool{"run", func(_ context.Context,
			args json.RawMessage) (agent.Action, error) {
			p := asked()
			p.Resource = string(args)
			return agent.Action{Ask: p, Run: func(ctx context.Context, _ agent.Progress) (agent.Result,
				error) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.effects[agent.CallFrom(ctx).ToolCallID]++
				return agent.Result{}, nil
			}}, nil
		}}}
		r.backend.prompt = func(ctx context.Context, h agent.Host, p agent.Prompt) error {
			<-ctx.Done()
			return ctx.Err()
		}
	})
}

// call makes the agent call a tool about one of a few resources.
func (b *broker) call(rt *rapid.T) {
	resource := rapid.SampledFrom([]string{`{"command":"a"}`, `{"command":"b"}`,
		`{"command":"c"}`}).Draw(rt, "resource")
	if b.s.Summary().Status == event.Idle {
		if _, err := b.s.Send(context.Background(), Message{Content: "go"}); err != nil {
			rt.Fatal(err)
		}
		synctest.Wait()
	}
	id := fmt.Sprint("call-", len(b.calls))
	b.calls = append(b.calls, id)
	go b.backend.host.CallTool(context.Background(),
		agent.ToolCall{ID: id, Name: "run", Arguments: json.RawMessage(resource)})
	synctest.Wait()
	for _, p := range all[event.PermissionRequested](b.rig) {
		if p.ToolCallID == id {
			b.requests[p.RequestID] = id
			b.resource[p.RequestID] = resource
			b.until[p.RequestID] = time.Time(p.ExpiresAt)
			b.state[p.RequestID] = nil
			if b.granted[resource] {
				b.state[p.RequestID] = consent.ErrAnswered
			}
		}
	}
}

// answer lets several people answer one request at the same time.
func (b *broker) answer(rt *rapid.T) {
	if len(b.requests) == 0 {
		rt.Skip("nothing was asked")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(b.requests))).Draw(rt, "request")
	people := rapid.SliceOfN(rapid.SampledFrom([]consent.Decision{
		{Decision: event.Allow}, {Decision: event.Allow, Scope: event.ForSession}, {Decision: event.Deny},
	}), 1, 3).Draw(rt, "decisions")
	stop := rapid.Bool().Draw(rt, "stop at the same time")
	full := rapid.IntRange(0, 4).Draw(rt, "disk full, if 0") == 0
	if full {
		b.mem.broken(errDisk)
	}
	errs := make([]error, len(people))
	var wg sync.WaitGroup
	for i, d := range people {
		wg.Go(func() { errs[i] = b.s.Decide(context.Background(), id, d) })
	}
	if stop {
		wg.Go(func() { b.s.Abort(context.Background(), "") })
		for request, call := range b.requests {
			b.raced[call] = b.raced[call] || b.state[request] == nil
		}
	}
	wg.Wait()
	synctest.Wait()
	if full {
		b.mem.broken(nil)
		time.Sleep(6 * time.Second) // what could not be logged is tried again
		synctest.Wait()
		defer b.expire()
	}
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
			if people[i].Scope == event.ForSession {
				b.granted[b.resource[id]] = true
				b.grantAnswers(id, stop)
			}
		case full && errors.Is(err, eventlog.ErrLog):
		case !errors.Is(err, consent.ErrAnswered) && !errors.Is(err, consent.ErrGone):
			rt.Fatalf("answer %d: %v", i, err)
		case b.state[id] != nil && !errors.Is(err, b.state[id]):
			rt.Fatalf("answer %d: %v, want %v", i, err, b.state[id])
		}
	}
	if open := b.state[id] == nil; won > 1 || won == 1 && (!open || full) || won == 0 && open &&
		!stop && !full {
		rt.Fatalf("%d answers won, open %v", won, open)
	}
	if won == 1 {
		b.state[id] = consent.ErrAnswered
	}
	if stop {
		b.allGone()
	}
}

// grantAnswers says that a grant given for one request answers the others about the same. Where the
// session was stopped at the same time the log says which of them it did.
func (b *broker) grantAnswers(given string, stop bool) {
	byGrant := map[string]bool{}
	for _, p := range all[event.PermissionCompleted](b.rig) {
		byGrant[p.RequestID] = p.By == event.DecidedByGrant
	}
	for id, err := range b.state {
		if id != given && err == nil && b.resource[id] == b.resource[given] && (!stop || byGrant[id]) {
			b.state[id] = consent.ErrAnswered
		}
	}
}

// allGone says that what was open is no more.
func (b *broker) allGone() {
	for id, err := range b.state {
		if err == nil {
			b.state[id] = consent.ErrGone
		}
	}
}

func (b *broker) abort(rt *rapid.T) {
	if err := b.s.Abort(context.Background(), ""); err != nil {
		rt.Fatal(err)
	}
	synctest.Wait()
	b.allGone()
}

func (b *broker) wait(rt *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 400).Draw(rt, "seconds")) * time.Second)
	synctest.Wait()
	b.expire()
}

// expire says what is open no more because its time is up.
func (b *broker) expire() {
	for id, err := range b.state {
		if err == nil && !time.Now().Before(b.until[id]) {
			b.state[id] = consent.ErrGone
		}
	}
}

func (b *broker) restart(rt *rapid.T) {
	id := b.s.ID()
	b.stop()
	b.start(b.mem)
	var err error
	if b.s, err = b.load(context.Background(), id); err != nil {
		rt.Fatal(err)
	}
	b.allGone()
}

// kill goes on with what the log held at one moment, as after a kill -9.
func (b *broker) kill(rt *rapid.T) {
	id, entries := b.s.ID(), b.mem.entries(b.s.ID())
	left := b.mem.prefix(id, len(entries))
	b.stop()
	b.start(left)
	var err error
	if b.s, err = b.load(context.Background(), id); err != nil {
		rt.Fatal(err)
	}
	b.allGone()
}

// check compares effects with approvals.
func (b *broker) check(rt *rapid.T) {
	allowed := map[string]bool{}
	for _, p := range all[event.PermissionCompleted](b.rig) {
		allowed[b.requests[p.RequestID]] = p.Decision == event.Allow
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.calls {
		want := 0
		if allowed[id] {
			want = 1
		}
		if n := b.effects[id]; n > want || n < want && !b.raced[id] {
			rt.Fatalf("call %s had %d effects, allowed %v", id, n, allowed[id])
		}
	}
	open := 0
	for _, err := range b.state {
		if err == nil {
			open++
		}
	}
	if got := b.s.Summary().Pending; got != open {
		rt.Fatalf("%d are pending, the model says %d", got, open)
	}
}

// THREATS 53 and 55: whatever happens in whatever order, there is one effect for
// each approval and none without.
func TestBrokerModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var failure any
		// rapid reports by panics, which have to leave the bubble's own goroutine.
		synctest.Test(t, func(t *testing.T) {
			defer func() { failure = recover() }()
			b := newBroker(t)
			rt.Repeat(map[string]func(*rapid.T){
				"call": b.call, "answer": b.answer, "abort": b.abort, "wait": b.wait, "restart": b.restart,
				"kill": b.kill, "": b.check,
			})
			b.stop()
			checkLog(rt, b.mem.entries(b.s.ID()), true)
		})
		switch {
		case failure == nil:
		case rt.Failed():
			panic(failure)
		default: // on a line of its own: rapid tells faults by where they come from
			panic(failure)
		}
	})
}
