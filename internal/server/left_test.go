package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"pgregory.net/rapid"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
	"webchat/internal/store/storetest"
)

// recalling is a Backend whose agent remembers what was said, and can forget it from a prompt on.
// Its turns last until the test ends them.
type recalling struct {
	mu    sync.Mutex // guards what follows
	knows map[string][]said
	lines map[string]*line
}

// line is what an agent and a test say to each other in one session.
type line struct {
	sent   chan string   // what a call of the model sends
	joined chan struct{} // a prompt joined the turn
	done   chan struct{} // the turn may end
}

// said is a text that the agent remembers, and the prompt it belongs to.
type said struct{ prompt, text string }

func newRecalling() *recalling {
	return &recalling{knows: map[string][]said{}, lines: map[string]*line{}}
}

func (*recalling) Name() string { return "recalling" }
func (*recalling) Info(context.Context) agent.Info {
	return agent.Info{Available: true, CanResume: true, Intercept: agent.InterceptRewrite}
}
func (*recalling) Models(context.Context) ([]agent.Model, error) { return nil, nil }

func (b *recalling) Open(_ context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	return &recallingConn{line: b.line(o.SessionID), b: b, id: o.SessionID, host: h}, nil
}

func (b *recalling) line(id string) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines[id] == nil {
		b.lines[id] = &line{make(chan string, 1), make(chan struct{}, 1), make(chan struct{})}
	}
	return b.lines[id]
}

type recallingConn struct {
	*line
	b      *recalling
	id     string
	host   agent.Host
	prompt string // of the turn that runs; guarded by b.mu
}

// keep adds to what the agent remembers, and returns all of it.
func (c *recallingConn) keep(prompt string, texts ...string) string {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	c.prompt = prompt
	var all []string
	for _, text := range texts {
		c.b.knows[c.id] = append(c.b.knows[c.id], said{prompt, text})
	}
	for _, s := range c.b.knows[c.id] {
		all = append(all, s.text)
	}
	return strings.Join(all, "\n")
}

func (c *recallingConn) Prompt(ctx context.Context, p agent.Prompt) error {
	texts := []string{p.Content}
	for _, a := range p.Attachments {
		texts = append(texts, string(a.Data))
	}
	all, answer := c.keep(p.MessageID, texts...), strings.Replace(p.Content, "prompt", "answer", 1)
	start := event.AssistantTurnStart{TurnID: "call of " + p.MessageID, PromptID: p.MessageID}
	err := c.host.Report(ctx, start)
	if err == nil {
		err = c.host.Report(ctx, event.AssistantMessageDelta{MessageID: answer, DeltaContent: answer})
	}
	if err != nil {
		return err
	}
	c.keep(p.MessageID, answer)
	c.sent <- all
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.host.Report(ctx, event.AssistantMessage{MessageID: answer, Content: answer})
	}
}

func (c *recallingConn) Steer(_ context.Context, p agent.Prompt) error {
	c.b.mu.Lock()
	prompt := c.prompt
	c.b.mu.Unlock()
	c.keep(prompt, p.Content)
	c.joined <- struct{}{}
	return nil
}

func (c *recallingConn) Rewind(_ context.Context, promptID string) error {
	c.b.mu.Lock()
	defer c.b.mu.Unlock()
	all := c.b.knows[c.id]
	i := slices.IndexFunc(all, func(s said) bool { return s.prompt == promptID })
	if i < 0 {
		return agent.ErrUnsupported
	}
	c.b.knows[c.id] = all[:i]
	return nil
}

func (*recallingConn) SetModel(context.Context, string) error { return nil }
func (*recallingConn) SetTitle(context.Context, string) error { return nil }
func (*recallingConn) Close() error                           { return nil }

// talk is a session as its user drives it: what is sent, in which turn it is, and what waits.
type talk struct {
	*house
	rt    *rapid.T
	agent *recalling
	id    string
	n     *int     // prompts sent in all sessions
	runs  string   // the prompt of the turn that runs; empty: none
	waits []string // the prompts that wait
	held  bool     // they wait for the user, after a stop
	ended []string // the prompts whose turns are over
	sends string   // what the newest call of the model sent
}

func (c *talk) path(of string) string { return "/api/sessions/" + c.id + of }

// post is a request that has to succeed; it returns the answer's field.
func (c *talk) post(path, body, field string) string {
	res, text := c.do("POST", path, body)
	fields := map[string]any{}
	err := json.Unmarshal([]byte(text), &fields)
	if res.StatusCode >= 300 || err != nil {
		c.rt.Fatalf("%s %s: %d %s %v", path, body, res.StatusCode, text, err)
	}
	value, _ := fields[field].(string)
	return value
}

// send sends a prompt and follows what becomes of it.
func (c *talk) send(mode string) {
	*c.n++
	body := fmt.Sprintf(`{"content":"prompt-%dx","mode":%q}`, *c.n, mode)
	id := c.post(c.path("/messages"), body, "messageId")
	switch {
	case c.runs == "":
		c.held = false
		c.begins(id)
	case mode == "steer" && c.runs != "":
		<-c.agent.line(c.id).joined
	default:
		c.waits = append(c.waits, id)
	}
}

// begins waits until the model is called for a prompt.
func (c *talk) begins(id string) {
	c.runs, c.sends = id, <-c.agent.line(c.id).sent
}

// next goes on with the next prompt that waits.
func (c *talk) next() {
	c.runs = ""
	if len(c.waits) > 0 && !c.held {
		id := c.waits[0]
		c.waits = c.waits[1:]
		c.begins(id)
	}
}

// over waits for the end of the turn that runs.
func (c *talk) over() {
	sess, err := c.sessions.Get(c.t.Context(), eventlog.ID(c.id))
	if err == nil {
		_, err = sess.WaitTurn(c.t.Context(), c.runs)
	}
	if err != nil {
		c.rt.Fatal(err)
	}
	c.ended = append(c.ended, c.runs)
}

func (c *talk) finish() {
	c.agent.line(c.id).done <- struct{}{}
	c.over()
	c.next()
}

func (c *talk) abort() {
	c.post(c.path("/abort"), `{}`, "")
	c.over()
	c.runs, c.held = "", true
}

func (c *talk) rewind() {
	to := rapid.SampledFrom(c.ended).Draw(c.rt, "to")
	c.post(c.path("/rewind"), `{"messageId":"`+to+`"}`, "")
	c.ended = c.ended[:slices.Index(c.ended, to)]
}

func (c *talk) branch() {
	at := rapid.SampledFrom(c.ended).Draw(c.rt, "at")
	c.id = c.post(c.path("/branch"), `{"messageId":"`+at+`"}`, "id")
	c.ended, c.waits, c.held, c.runs = nil, nil, false, ""
}

// step does one thing that can be done now.
func (c *talk) step() {
	send := func() { c.send("queue") }
	can := map[string]func(){"send": send, "send another": send}
	if c.runs != "" {
		can["finish"], can["abort"], can["steer"] = c.finish, c.abort, func() { c.send("steer") }
	}
	if c.runs == "" && len(c.waits) == 0 && len(c.ended) > 0 {
		can["rewind"] = c.rewind
	}
	if len(c.ended) > 0 && c.runs == "" {
		can["branch"] = c.branch
	}
	var names []string
	for name := range can {
		names = append(names, name)
	}
	slices.Sort(names)
	can[rapid.SampledFrom(names).Draw(c.rt, "step")]()
}

var texts = regexp.MustCompile(`(prompt|answer)-[0-9]+x`)

// sorted are the prompts and answers in a text, each once.
func sorted(text string) []string {
	all := texts.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

// pageSays is what the page shows as known to the model.
func (c *talk) pageSays() []string {
	_, text := c.do("GET", "/sessions/"+c.id, "")
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(text))
	if err != nil {
		c.rt.Fatal(err)
	}
	turns := doc.Find("section.turn:not([data-left])")
	return sorted(turns.Find("h2").Text() + " " + turns.Find(".turn-b").Text())
}

// check compares what is left in page and export with what the next call of the model sends.
func (c *talk) check() {
	for c.runs != "" {
		c.finish()
	}
	if len(c.waits) > 0 {
		c.send("queue")
		for c.runs != "" {
			c.finish()
		}
	}
	shown := c.pageSays()
	_, text := c.do("GET", c.path("/export?"+url.Values{"format": {"md"}, "left": {"0"}}.Encode()), "")
	if exported := sorted(text); !slices.Equal(exported, shown) {
		c.rt.Fatalf("the page shows  %v\nthe export has %v", shown, exported)
	}
	c.send("queue")
	now := fmt.Sprintf("prompt-%dx", *c.n)
	sent := slices.DeleteFunc(sorted(c.sends), func(s string) bool { return s == now })
	if !slices.Equal(sent, shown) {
		c.rt.Fatalf("the page shows %v\nthe model is sent %v", shown, sent)
	}
	c.finish()
}

// Whatever is queued, steered, stopped, gone back to and branched, page and export hold what the
// next call of the model sends, and nothing else.
func TestLeftIsWhatTheModelKnows(t *testing.T) {
	b := newRecalling()
	h := newHouseOn(t, storetest.NewMemory(), b)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		c := &talk{house: h, rt: rt, agent: b, n: &n}
		c.id = c.post("/api/sessions", `{"title":"a talk"}`, "id")
		for range rapid.IntRange(3, 12).Draw(rt, "steps") {
			c.step()
		}
		c.check()
	})
}
