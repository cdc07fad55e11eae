package page_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"webchat/internal/event"
	"webchat/internal/page/pagetest"
)

// failures are what other rooms say of what did not work, in their words.
func failures() []event.Data {
	var all []event.Data
	fail := func(tool string, e event.ToolError) {
		id := fmt.Sprint("f", len(all))
		all = append(all, event.ToolExecutionStart{
			ToolCallID: id,
			ToolName:   tool,
			Arguments:  raw(`{"path":"RAEDME.md"}`),
			By:         event.ByAgent,
		},
			event.ToolExecutionComplete{ToolCallID: id, Error: &e, ResultTokens: 12})
	}
	for _, tool := range []string{"render_file_contents", "run_and_display", "view"} {
		fail(tool, event.ToolError{
			Message: "There is no RAEDME.md in ~/relay.",
			Code:    "failure",
			Kind:    event.KindNotFound,
			Nearest: []string{"README.md"},
		})
		fail(tool,
			event.ToolError{
				Message: "That path leaves the workspace. Only files inside ~/relay are shown.",
				Code:    "failure",
				Kind:    event.KindOutside,
			})
		fail(tool, event.ToolError{
			Message: "The user stopped it.",
			Code:    "aborted",
			Kind:    event.KindAborted,
			By:      event.DecidedByUser,
		})
		fail(tool, event.ToolError{
			Message: "The turn ended before this did.",
			Code:    "aborted",
			Kind:    event.KindAborted,
		})
		fail(tool, event.ToolError{
			Message: "Timed out after 10 min.",
			Code:    "timeout",
			Kind:    event.KindTimeout,
			Limit:   event.LimitCommandTime,
		})
		// of a log without kinds
		fail(tool, event.ToolError{Message: "A workspace. The nearest are: a, b", Code: "failure"})
		fail(tool, event.ToolError{
			Message: "The user said no.",
			Code:    "denied",
			Kind:    event.KindDenied,
			By:      event.DecidedByUser,
		})
	}
	decide := func(c event.PermissionCompleted) {
		c.RequestID = fmt.Sprint("d", len(all))
		all = append(all, allow(c.RequestID, "", "make"), c)
	}
	decide(event.PermissionCompleted{
		Decision: event.Allow,
		By:       event.DecidedByRule,
		Reason:   "A built-in rule allows reading inside the workspace.",
		Rule:     &event.Rule{BuiltIn: true, Covers: "reading inside the workspace"},
	})
	decide(event.PermissionCompleted{
		Decision: event.Deny,
		By:       event.DecidedByRule,
		Reason:   "Rule 3 of the user's configuration says deny.",
		Rule:     &event.Rule{Number: 3},
	})
	decide(event.PermissionCompleted{
		Decision: event.Deny,
		By:       event.DecidedByUser,
		Reason:   "The user said no: use make check",
	})
	decide(event.PermissionCompleted{
		Decision: event.Deny,
		By:       event.DecidedByHook,
		Reason:   "Not on a Friday.",
	})
	for _, e := range []event.SessionError{{
		Message:   "Over its rate limit.",
		ErrorType: "rate_limit",
		Kind:      event.KindLimit,
	}, {
		Message:   "Authentication failed (HTTP 401).",
		ErrorType: "authentication",
		Kind:      event.KindDenied,
	},
		{Message: "The agent died: exit 137.", ErrorType: "died", Kind: event.KindAgentDied},
		{Message: "Not installed.", ErrorType: event.ErrorUnavailable, Kind: event.KindProvider},
		{Message: "It does not remember.", ErrorType: event.ErrorForgotten, Kind: event.KindInterrupted},
		{Message: "The hook refused the prompt.", ErrorType: event.ErrorHook, Kind: event.KindDenied},
		{Message: "Something is off.", ErrorType: event.ErrorWarning, Kind: event.KindProvider},
		{Message: "429", ErrorType: "query", StatusCode: 429}} {
		all = append(all, e)
	}
	return append(all, event.Abort{Reason: "Stopped by the user.", By: event.DecidedByUser},
		event.Abort{Reason: "The session was deleted."})
}

// reworded is an event with other sentences, and the same facts.
func reworded(data event.Data) event.Data {
	other := func(s *string) {
		if *s != "" {
			*s = "x"
		}
	}
	switch d := data.(type) {
	case event.ToolExecutionComplete:
		if d.Error != nil {
			e := *d.Error
			other(&e.Message)
			d.Error = &e
		}
		if d.Result != nil {
			r := *d.Result
			other(&r.Content)
			other(&r.DetailedContent)
			d.Result = &r
		}
		return d
	case event.ToolExecutionProgress:
		other(&d.ProgressMessage)
		return d
	case event.SessionError:
		other(&d.Message)
		return d
	case event.PermissionRequested:
		other(&d.Action)
		other(&d.Why)
		return d
	case event.PermissionCompleted:
		other(&d.Reason)
		if d.Rule != nil {
			r := *d.Rule
			other(&r.Covers)
			d.Rule = &r
		}
		return d
	case event.HookEnd:
		other(&d.Reason)
		return d
	case event.Abort:
		other(&d.Reason)
		return d
	case event.SubagentFailed:
		other(&d.Error)
		return d
	}
	return data
}

// structure is a page without its words: elements, classes, ids, states.
func structure(b *strings.Builder, n *html.Node, depth int) {
	if n.Type == html.ElementNode {
		fmt.Fprintf(b, "%*s<%s", depth, "", n.Data)
		for _, a := range n.Attr {
			if a.Key != "title" && a.Key != "aria-label" {
				fmt.Fprintf(b, " %s=%q", a.Key, a.Val)
			}
		}
		b.WriteString(">\n")
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		structure(b, c, depth+1)
	}
}

// What a page looks like follows from facts: other words in all sentences of other
// rooms change no element of it.
func TestSentencesDecideNothing(t *testing.T) {
	all := stories()
	all["failures"] = join(opening(), failures(), closing(event.Aborted))
	look := func(data []event.Data) string {
		pr := pages(t, 40).Projector("s1")
		pr.Load(newLog().add(data...).entries...)
		var b strings.Builder
		structure(&b, pagetest.Parse(t, pr.Transcript()).Root, 0)
		return b.String()
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var others []event.Data
		for _, d := range all[name] {
			others = append(others, reworded(d))
		}
		before, after := strings.Split(look(all[name]), "\n"), strings.Split(look(others), "\n")
		for i := range before {
			if i >= len(after) || before[i] != after[i] {
				t.Errorf("%s: the page changes with the words of a sentence: %q became %q", name, before[i],
					after[min(i, len(after)-1)])
				break
			}
		}
	}
}
