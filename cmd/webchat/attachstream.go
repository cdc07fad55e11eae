package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"webchat/internal/event"
	"webchat/internal/page"
	"webchat/internal/wording"
)

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
