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
