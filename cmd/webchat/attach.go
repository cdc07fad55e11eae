package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"webchat/internal/daemon"
	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/veil"
	"webchat/internal/wording"
)

const (
	attachTime   = 10 * time.Second       // for an answer of the server
	attachAgain  = time.Second            // until a stream that broke is asked for again, and again
	attachSettle = 100 * time.Millisecond // until a question is shown: rules decide most at once
)

// attach is "webchat attach": it prints a session's conversation and then what happens
// in it, and answers its questions by lines of standard input. It ends with SIGINT, which
// stops nothing else, or with the server.
func attach(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &attached{
		token:  g.Token(),
		again:  attachAgain,
		out:    stdout,
		hide:   veil.Hide,
		calls:  map[string]page.Call{},
		queued: map[string]string{},
		find: func() (string, error) {
			link, err := daemon.Client{Dir: dir, Token: g.Token()}.Link(ctx)
			base, _, _ := strings.Cut(link, "/auth#")
			return base, err
		},
	}
	if c.unveiled() {
		a.hide = func(text string) string { return text }
	}
	if a.base, err = a.find(); err != nil {
		return err
	}
	if err = a.choose(ctx, o.Session, stderr); err == nil {
		err = a.run(ctx, os.Stdin, atTerminal(os.Stdin))
	}
	if ctx.Err() != nil {
		return nil // the user left
	}
	return err
}

// attached is a session that is followed in a terminal.
type attached struct {
	find        func() (base string, err error) // where the server is
	base, token string
	again       time.Duration
	out         io.Writer
	hide        func(string) string // puts dots over what looks like a secret

	session string
	after   int64 // the last event of the log that was seen
	live    bool  // the log was read
	calls   map[string]page.Call
	turn    string            // the one that runs; empty: none
	queued  map[string]string // prompts written while a turn ran, by their ids
	open    []question        // the first one is shown, once shown is set
	shown   bool
	stale   bool // a question that was shown was closed by others: the next line may be meant for it
}

// question is what waits for the user.
type question struct {
	id, text string
	what     string                                    // in a line
	answer   func(line string) (path string, body any) // nil: the line is not an answer
	here     bool                                      // it was answered here
}

// choose finds the session by its id, or the one in which something happened last.
func (a *attached) choose(ctx context.Context, id string, stderr io.Writer) error {
	type shape struct {
		ID, Title, Workspace string
		UpdatedAt            time.Time
	}
	var s shape
	if id != "" {
		if err := a.call(ctx, http.MethodGet, "/api/sessions/"+url.PathEscape(id), nil,
			&s); err != nil {
			return err
		}
	} else {
		var list struct{ Sessions []shape }
		if err := a.call(ctx, http.MethodGet, "/api/sessions?limit=200", nil, &list); err != nil {
			return err
		}
		if len(list.Sessions) == 0 {
			return errors.New("there is no session yet: begin one in the page that \"webchat\" opens")
		}
		s = slices.MaxFunc(list.Sessions, func(x, y shape) int {
			return x.UpdatedAt.Compare(y.UpdatedAt)
		})
	}
	a.session = s.ID
	_, err := fmt.Fprintf(stderr, "webchat: %s in %s; Ctrl C leaves it and stops nothing\n",
		wording.Plain(cmp.Or(s.Title, "Untitled session")), wording.Plain(s.Workspace))
	return err
}

// run prints the log and follows it. A stream that breaks is asked for again, from where it
// was, while the server runs: the replica that has the session may be away.
func (a *attached) run(ctx context.Context, in io.Reader, terminal bool) error {
	if err := a.past(ctx); err != nil {
		return err
	}
	lines := linesOf(in)
	for reported := ""; ; {
		err := a.follow(ctx, lines, terminal)
		refused, ok := errors.AsType[*refusedError](err)
		if !errors.Is(err, errStream) || ok && refused.status < 500 {
			return err
		}
		if ok && refused.text != reported {
			reported = refused.text
			if err := a.say("· " + reported); err != nil {
				return err
			}
		}
		select {
		case <-time.After(a.again):
		case <-ctx.Done():
			return nil
		}
		if a.base, err = a.find(); err != nil {
			return fmt.Errorf("the server has ended: %w", err)
		}
	}
}

// linesOf reads lines of any length. It ends with the process: nothing else interrupts a read.
func linesOf(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		for r := bufio.NewReader(in); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// past prints what the log has.
func (a *attached) past(ctx context.Context) error {
	for {
		var list struct {
			Events []json.RawMessage
			Cursor int64
		}
		path := a.path("/events?limit=500&after=" + strconv.FormatInt(a.after, 10))
		if err := a.call(ctx, http.MethodGet, path, nil, &list); err != nil {
			return err
		}
		for _, e := range list.Events {
			if err := a.take(e); err != nil {
				return err
			}
		}
		if a.after = list.Cursor; len(list.Events) == 0 {
			a.live = true
			return nil
		}
	}
}

// errStream is wrapped when a stream ends that should not.
var errStream = errors.New("the server ended the stream")

// frame is an event of the stream; seq is 0 if the frame has no id.
type frame struct {
	seq  int64
	data []byte
}

// follow prints what happens and takes answers until the stream ends.
func (a *attached) follow(ctx context.Context, lines <-chan string, terminal bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames, ended := make(chan frame), make(chan error, 1)
	go func() { ended <- a.stream(ctx, frames) }()
	settled := time.NewTimer(0)
	for {
		in := lines
		if a.shown && a.open[0].here || !terminal && !a.shown {
			in = nil // the next line is for the next question; a pipe's lines wait for theirs
		}
		var err error
		select {
		case f := <-frames:
			before := len(a.open)
			err = a.take(f.data)
			a.after = max(a.after, f.seq)
			if len(a.open) != before {
				settled.Reset(attachSettle)
			}
		case <-settled.C:
			err = a.show()
		case line := <-in:
			err = a.reply(ctx, strings.TrimSpace(line))
		case err := <-ended:
			return fmt.Errorf("%w: %w", errStream, err)
		}
		if err != nil {
			return err
		}
	}
}

// stream reads the events after the last one that was seen.
func (a *attached) stream(ctx context.Context, to chan<- frame) error {
	res, err := a.request(ctx, http.MethodGet, a.path("/events"), nil, http.Header{
		"Accept": {"text/event-stream"}, "Last-Event-Id": {strconv.FormatInt(a.after, 10)}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var f frame
	for r := bufio.NewReader(res.Body); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return err
		}
		field, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		switch value = strings.TrimPrefix(value, " "); {
		case field == "id":
			f.seq, _ = strconv.ParseInt(value, 10, 64)
		case field == "data":
			f.data = append(f.data, value...)
		case field == "" && len(f.data) > 0:
			select {
			case to <- f:
			case <-ctx.Done():
				return ctx.Err()
			}
			f = frame{}
		}
	}
}

// take prints what an event says, in a few lines.
func (a *attached) take(data []byte) error {
	e, err := event.Unmarshal(data)
	if err != nil {
		return nil // of a later version
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		a.turn = d.TurnID
		if text, ok := a.queued[d.MessageID]; ok {
			delete(a.queued, d.MessageID)
			return a.say("\n> " + wording.FirstLine(text, 200))
		}
	case event.UserMessage:
		return a.say(a.prompt(d))
	case event.UserMessageWithdrawn:
		delete(a.queued, d.MessageID)
		return a.say("(a queued prompt was removed)")
	case event.AssistantMessage:
		if d.ParentToolCallID != "" || strings.TrimSpace(d.Content) == "" {
			return nil // a helper's words are for its agent
		}
		return a.say("\n" + d.Content)
	case event.ToolExecutionStart:
		a.calls[d.ToolCallID] = page.Call{Tool: d.ToolName, Args: d.Arguments}
	case event.ToolExecutionComplete:
		return a.say(a.done(d))
	case event.PermissionRequested:
		a.open = append(a.open, permission(d))
	case event.PermissionCompleted:
		how := map[event.Decision]string{event.Allow: "allowed", event.Deny: "denied"}[d.Decision]
		return a.closed(d.RequestID, how+" by "+string(d.By))
	case event.UserInputRequested:
		a.open = append(a.open, asking(d))
	case event.UserInputCompleted:
		return a.closed(d.RequestID, cmp.Or(d.Answer, "not answered"))
	case event.SessionRewound:
		switch {
		case d.Undoes > 0:
			return a.say("(what was put aside is back)")
		case d.FilesOnly:
			return a.say("(files are as they were before an earlier prompt)")
		}
		return a.say("(the agent forgot a prompt, and what came after it)")
	case event.SessionError:
		return a.say("! " + d.Message)
	case event.TurnEnd:
		a.turn = ""
		for _, id := range d.Steered {
			delete(a.queued, id)
		}
		if d.Outcome != event.Completed {
			return a.say("(the turn ended: " + string(d.Outcome) + ")")
		}
	}
	return nil
}

// prompt is a prompt as it was written, with its attachments.
func (a *attached) prompt(d event.UserMessage) string {
	text := d.Content
	for _, f := range d.Attachments {
		text += "\nAttached: " + wording.Plain(cmp.Or(f.Name, f.Path, f.OutputID))
	}
	text = "\n> " + strings.ReplaceAll(text, "\n", "\n> ")
	if a.turn != "" {
		a.queued[d.MessageID] = d.Content
		text += "\n  (written while a turn runs)"
	}
	return text
}

// done is a line about a tool call that is over, with the address of what it showed.
func (a *attached) done(d event.ToolExecutionComplete) string {
	call := a.calls[d.ToolCallID]
	delete(a.calls, d.ToolCallID)
	what := wording.FirstLine(wording.Plain(strings.TrimSpace(call.Tool+" "+call.Name())), 200)
	switch {
	case d.Error != nil:
		return "· " + what + ": " + wording.FirstLine(d.Error.Message, 300)
	case d.OutputID != "" && d.Result != nil:
		return "· " + wording.FirstLine(d.Result.Content, 300) + " · " + a.base + "/sessions/" +
			a.session + "#out/" + d.OutputID
	}
	return "· " + what
}

// say prints a text of others: nothing in it reaches the terminal as a control.
func (a *attached) say(text string) error {
	_, err := fmt.Fprintln(a.out, wording.Shown(a.hide(text)))
	return err
}

// permission is the question whether an agent may act. It says what would be done as it is.
func permission(d event.PermissionRequested) question {
	what := d.ToolName + " asks to " + d.Action + ": " + d.Resource
	text := "\n? " + wording.Revealed(what)
	more := func(before, s string) {
		if s != "" {
			text += "\n  " + before + strings.ReplaceAll(wording.Revealed(s), "\n", "\n  ")
		}
	}
	more("which leads to ", d.Target)
	for _, r := range d.Resources[min(1, len(d.Resources)):] {
		more("and to ", r.Action+": "+r.Resource)
		more("which leads to ", r.Target)
	}
	more("in ", d.Cwd)
	more("", d.Why)
	if d.Secret != nil {
		more("", d.Secret.File+" "+d.Secret.Looks)
	}
	more("", strings.TrimSuffix(d.Diff, "\n"))
	return question{id: d.RequestID, what: wording.FirstLine(wording.Plain(what), 200), text: text +
		"\n  y allows it once, n denies it; then Enter",
		answer: func(line string) (string, any) {
			decision := map[string]event.Decision{"y": event.Allow, "n": event.Deny}[strings.ToLower(line)]
			if decision == "" {
				return "", nil
			}
			return "/permissions/" + url.PathEscape(d.RequestID), map[string]any{"decision": decision}
		}}
}

// asking is an agent's question, which is answered by the number of a choice or in words.
func asking(d event.UserInputRequested) question {
	text := "\n? " + wording.Revealed(d.Question)
	if d.Detail != "" {
		text += "\n" + wording.Revealed(d.Detail)
	}
	for i, c := range d.Choices {
		text += "\n  " + strconv.Itoa(i+1) + " " + wording.Plain(c)
	}
	how := "type the number of a choice, then Enter"
	if len(d.Choices) == 0 {
		how = "type an answer, then Enter"
	} else if d.AllowFreeform {
		how = "type the number of a choice or an answer, then Enter"
	}
	return question{
		id:   d.RequestID,
		what: wording.FirstLine(wording.Plain(d.Question), 200),
		text: text + "\n  " + how,
		answer: func(line string) (string, any) {
			n, err := strconv.Atoi(line)
			chosen := err == nil && n >= 1 && n <= len(d.Choices)
			if chosen {
				line = d.Choices[n-1]
			}
			if line == "" || !chosen && !d.AllowFreeform {
				return "", nil
			}
			return "/answers/" + url.PathEscape(d.RequestID),
				map[string]any{"answer": line, "wasFreeform": !chosen}
		},
	}
}

// show prints the first open question.
func (a *attached) show() error {
	if !a.live || a.shown || len(a.open) == 0 {
		return nil
	}
	a.shown = true
	_, err := fmt.Fprintln(a.out, a.open[0].text)
	return err
}

// closed says what was decided about a question.
func (a *attached) closed(id, how string) error {
	i := slices.IndexFunc(a.open, func(q question) bool { return q.id == id })
	if i < 0 {
		return nil
	}
	q, asked := a.open[i], i == 0 && a.shown
	a.open = slices.Delete(a.open, i, i+1)
	if asked {
		a.shown, a.stale = false, !q.here
		return a.say("  " + how)
	}
	return a.say("· " + q.what + ": " + how)
}

// reply takes a line as the answer to the question that is shown.
func (a *attached) reply(ctx context.Context, line string) error {
	stale := a.stale
	if a.stale = false; !a.shown {
		return a.say("  No question is open. Write prompts in the page.")
	}
	if stale {
		return a.say(
			"  The question before was answered elsewhere, so that line was not taken. Answer this one.")
	}
	q := &a.open[0]
	path, body := q.answer(line)
	if body == nil {
		_, err := fmt.Fprintln(a.out, q.text)
		return err
	}
	q.here = true
	err := a.call(ctx, http.MethodPost, a.path(path), body, nil)
	if refused, ok := errors.AsType[*refusedError](err); ok { // such as what was decided meanwhile
		q.here = false
		return a.say("  " + refused.Error())
	}
	return err
}

func (a *attached) path(rest string) string {
	return "/api/sessions/" + url.PathEscape(a.session) + rest
}

// refusedError is what the server says of a request that it refuses.
type refusedError struct {
	status int // of HTTP
	text   string
}

func (e *refusedError) Error() string { return e.text }

// attachClient asks the server, which is on this machine, whatever proxies are set.
var attachClient = &http.Client{Transport: &http.Transport{}}

// request makes a request; the error is a [refusedError] where the server answers with one.
func (a *attached) request(ctx context.Context, method, path string, body []byte,
	h http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = h
	r.Header.Set("Authorization", "Bearer "+a.token)
	res, err := attachClient.Do(r)
	if err != nil || res.StatusCode < 300 {
		return res, err
	}
	defer res.Body.Close()
	var answer struct{ Error string }
	_ = json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&answer) // else its status says enough
	return nil, &refusedError{res.StatusCode, cmp.Or(answer.Error, "The server answered "+res.Status+
		".")}
}

// call sends in as JSON unless it is nil, and decodes the answer into out unless that is nil.
func (a *attached) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, attachTime)
	defer cancel()
	h, body := http.Header{}, []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
		h.Set("Content-Type", "application/json")
	}
	res, err := a.request(ctx, method, path, body, h)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}
