// Package released keeps what the user released to an agent of what was shown to them, and reads it
// for the agent: exactly those bytes, and nothing else.
//
// The methods of a Shelf may be called concurrently.
//
//	var s released.Shelf
//	number := s.Add("go test ./...", data)
//	text, name, err := s.Call(released.ReadOutput, []byte(`{"output":"1","lines":"1-20"}`))
package released

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// The tools that return what the user released.
const (
	ReadOutput   = "read_output"
	SearchOutput = "search_output"
)

const (
	mostReleased = 20        // releases that a shelf keeps; the oldest go first
	mostKept     = 8 << 20   // bytes that a shelf keeps, but for the latest release
	mostRead     = 100 << 10 // bytes that one call of a client returns
	mostInTurn   = 16 << 10  // and one of a session's agent: some cut results of over 20,480 bytes
	mostHits     = 200       // lines that one search returns
)

// Specs are the tools as an agent is offered them.
func Specs() []agent.ToolSpec {
	return []agent.ToolSpec{
		{
			Name:  ReadOutput,
			Reads: true,
			Description: "Read an output that was shown in webchat and that the user released to you. It " +
				"returns nothing that they did not release.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"output":{"type":"string","description":"the number the user gave; without it, the latest"},` +
				`"lines":{"type":"string","description":"such as 1-200, counted in what was released"}}}`),
		},
		{
			Name:  SearchOutput,
			Reads: true,
			Description: "Search an output that the user released to you in webchat. You get the lines " +
				"that match.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"output":{"type":"string","description":"the number the user gave; without it, the latest"},` +
				`"pattern":{"type":"string","description":"a regular expression (RE2)"}},"required":["pattern"]}`),
		},
	}
}

// ErrNot is what an agent reads instead of anything else.
var ErrNot = errors.New(
	"not released by the user: they can release it with \"Let the agent read this\" in webchat")

// Shelf is what was released in one session. The zero value is empty.
type Shelf struct {
	mu       sync.Mutex // guards what follows
	kept     []output   // the oldest first
	numbered int        // releases so far
}

// output is something the user released: exactly these bytes.
type output struct {
	number int
	name   string
	data   []byte
}

// Add releases data, which it keeps, and returns the number it is read by.
func (s *Shelf) Add(name string, data []byte) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbered++
	s.kept = append(s.kept, output{s.numbered, name, data})
	size := 0
	for i := len(s.kept) - 1; i >= 0; i-- {
		if size += len(s.kept[i].data); i < len(s.kept)-1 &&
			(size > mostKept || len(s.kept)-i > mostReleased) {
			s.kept = s.kept[i+1:]
			break
		}
	}
	return s.numbered
}

// find returns what was released under a number, the latest for an empty one.
func (s *Shelf) find(number string) (output, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.kept) - 1; i >= 0; i-- {
		if r := s.kept[i]; number == "" || number == strconv.Itoa(r.number) {
			return r, nil
		}
	}
	return output{}, ErrNot
}

// used reports whether anything was released yet.
func (s *Shelf) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbered > 0
}

// Readers says with which tools, and how, the release of a number is read.
func Readers(number int) string {
	return fmt.Sprintf("%s or %s (output %q)", ReadOutput, SearchOutput, strconv.Itoa(number))
}

// Arguments are those of both tools.
type Arguments struct {
	Output  string `json:"output"`
	Lines   string `json:"lines,omitempty"`
	Pattern string `json:"pattern,omitempty"`
}

// Call returns what a call of one of the tools asks for, and the name of what that is. The error is
// for the model.
func (s *Shelf) Call(tool string, args Arguments) (text, name string, err error) {
	return s.call(tool, args, mostRead)
}

// call is Call for an agent that reads so many bytes at once.
func (s *Shelf) call(tool string, args Arguments, most int) (text, name string, err error) {
	r, err := s.find(args.Output)
	switch {
	case err != nil:
	case tool == SearchOutput:
		text, err = r.search(args.Pattern, most)
	default:
		text, err = r.lines(args.Lines, most)
	}
	return text, r.name, err
}

// lines returns a range of lines, counted from 1, as "A-B", "A-" or "A"; all for "".
func (r output) lines(which string, most int) (string, error) {
	all := bytes.SplitAfter(r.data, []byte{'\n'})
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	from, to := 1, len(all)
	if which != "" {
		ranges, err := wording.Ranges(which)
		if err != nil || len(ranges) > 1 {
			return "", fmt.Errorf("lines %q are not of the form 1-200", which)
		}
		if from = ranges[0][0]; ranges[0][1] > 0 {
			to = ranges[0][1]
		}
	}
	if len(all) == 0 {
		return "(it is empty)", nil
	}
	if from > len(all) {
		return "", fmt.Errorf("it has %d lines, so there is no line %d", len(all), from)
	}
	var out []byte
	for i := from; i <= min(to, len(all)); i++ {
		line := all[i-1]
		if len(out)+len(line) > most {
			if len(out) == 0 {
				out = append(out, line[:most]...)
				i++
			}
			return text(out) + fmt.Sprintf("\n… %d lines follow: ask for lines %d-%d\n", len(all)-i+1, i,
				len(all)), nil
		}
		out = append(out, line...)
	}
	return text(out), nil
}

// search returns the lines that match, each with its number.
func (r output) search(pattern string, most int) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil || pattern == "" {
		return "", errors.New("the pattern is not a regular expression of RE2")
	}
	var out []byte
	hits, number := 0, 0
	for line := range bytes.Lines(r.data) {
		if number++; !re.Match(bytes.TrimRight(line, "\r\n")) {
			continue
		}
		if hits++; hits > mostHits || len(out)+len(line) > most {
			return text(out) + "… more lines match: ask more precisely\n", nil
		}
		out = fmt.Appendf(out, "%d:%s\n", number, bytes.TrimRight(line, "\r\n"))
	}
	if hits == 0 {
		return "No line matches.", nil
	}
	return text(out), nil
}

// text is bytes as a result can hold them.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// Tools are the two tools for an agent of a session, which reads from s. They are needed from the
// first release on.
func (s *Shelf) Tools() []agent.Tool {
	tools := make([]agent.Tool, 0, len(Specs()))
	for _, spec := range Specs() {
		spec.Needed = s.used
		tools = append(tools, reader{s, spec})
	}
	return tools
}

// reader is one of the tools.
type reader struct {
	shelf *Shelf
	spec  agent.ToolSpec
}

// Spec implements [agent.Tool].
func (r reader) Spec() agent.ToolSpec { return r.spec }

// Plan implements [agent.Tool]. Nothing is asked: the user has released it.
func (r reader) Plan(_ context.Context, raw json.RawMessage) (agent.Action, error) {
	var args Arguments
	if len(raw) > 0 && json.Unmarshal(raw, &args) != nil {
		return agent.Action{}, errors.New("the arguments have to be strings")
	}
	sum := sha256.Sum256(append([]byte(r.spec.Name+"\x00"), raw...))
	return agent.Action{
		Digest: hex.EncodeToString(sum[:]),
		Run: func(context.Context, agent.Progress) (agent.Result, error) {
			text, _, err := r.shelf.call(r.spec.Name, args, mostInTurn)
			switch {
			case errors.Is(err, ErrNot):
				return agent.Failure(event.KindDenied, "%s", err), nil
			case err != nil:
				return agent.Failure(event.KindBadArguments, "%s", err), nil
			}
			return agent.Result{Type: agent.Success, TextForModel: text}, nil
		},
	}, nil
}
