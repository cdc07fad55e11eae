package copilottest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Reply is what the model answers.
type Reply struct {
	Status    int    // not 0: this status instead of an answer
	Says      string // with a Status, the provider's words
	After     int    // seconds after which it is to be tried again, with a Status
	Reasoning string // comes first
	Text      string // in pieces of a word
	Calls     []Call
	Cut       bool          // the stream breaks off behind the text
	Pause     time.Duration // between two words
	Finish    string        // finish_reason; empty: as fits
	In, Out   int           // tokens that it says it cost; 0: 100 and 10
}

// Call is a tool the model wants called.
type Call struct {
	Tool      string
	Arguments string // JSON
}

// obey is the language of the package comment.
func obey(r Request) *Reply {
	prompt := r.Prompt()
	verb, rest, _ := strings.Cut(prompt, " ")
	if results := r.results(); len(results) > 0 {
		return &Reply{Text: "Done: " + strings.Join(results, "; ")}
	}
	switch verb {
	case "show":
		var calls []Call
		for p := range strings.FieldsSeq(rest) {
			calls = append(calls, Call{"render_file_contents", object("path", p)})
		}
		return &Reply{Text: "Let me show it.", Calls: calls}
	case "run":
		return &Reply{Calls: []Call{{"run_and_display", object("command", rest)}}}
	case "image":
		return &Reply{Calls: []Call{{"display_image", object("path", rest)}}}
	case "call":
		tool, arguments, _ := strings.Cut(rest, " ")
		return &Reply{Calls: []Call{{tool, arguments}}}
	case "ask":
		return &Reply{Calls: []Call{{"ask_user", `{"question":` + quote(rest) +
			`,"choices":["red","blue"],"allow_freeform":true}`}}}
	case "talk":
		return &Reply{Text: strings.Repeat("word after word ", 1000), Pause: 20 * time.Millisecond}
	case "status":
		code, err := strconv.Atoi(strings.TrimSpace(rest))
		if err != nil {
			code = http.StatusTeapot
		}
		return &Reply{Status: code}
	case "cut":
		return &Reply{Text: "This breaks off", Cut: true}
	case "think":
		return &Reply{Reasoning: "First I consider the question.", Text: rest}
	}
	return &Reply{Text: "You said: " + prompt}
}

func object(key, value string) string { return `{` + quote(key) + `:` + quote(value) + `}` }

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// write sends the reply as a stream of chunks.
func (p *Reply) write(w http.ResponseWriter, hr *http.Request, model string, n int) {
	if p.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", strconv.Itoa(p.After))
		w.WriteHeader(p.Status)
		fmt.Fprintf(w, `{"error":{"message":%s,"type":"scripted"}}`,
			quote(cmp.Or(p.Says, fmt.Sprintf("scripted refusal %d", p.Status))))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	chunk := func(delta, finish string) bool {
		_, err := fmt.Fprintf(w,
			`data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":%s,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n",
			n, quote(model), delta, finish)
		return err == nil && flusher.Flush() == nil
	}
	if p.Reasoning != "" {
		chunk(`{"role":"assistant","reasoning_content":`+quote(p.Reasoning)+`}`, "null")
	}
	for word := range strings.SplitAfterSeq(p.Text, " ") {
		if word == "" || !chunk(`{"role":"assistant","content":`+quote(word)+`}`, "null") {
			continue
		}
		if p.Pause > 0 && !wait(hr, p.Pause) {
			return
		}
	}
	if p.Cut {
		panic(http.ErrAbortHandler)
	}
	for i, c := range p.Calls {
		chunk(fmt.Sprintf(
			`{"tool_calls":[{"index":%d,"id":"call_%d_%d","type":"function","function":{"name":%s,"arguments":%s}}]}`,
			i, n, i, quote(c.Tool), quote(c.Arguments)), "null")
	}
	finish := p.Finish
	switch {
	case finish != "":
	case len(p.Calls) > 0:
		finish = "tool_calls"
	default:
		finish = "stop"
	}
	chunk(`{}`, quote(finish))
	in, out := cmp.Or(p.In, 100), cmp.Or(p.Out, 10)
	fmt.Fprintf(w,
		`data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":%s,"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", n, quote(model), in, out, in+out)
	_ = flusher.Flush() // the program went away, or has it
}

func wait(hr *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-hr.Context().Done():
		return false
	}
}
