package looking

import (
	"strings"
	"unicode/utf8"

	"webchat/internal/tokens"
)

const (
	shortAnswer = 200      // tokens: an answer of more says something of its own
	large       = 4_000    // tokens of a result that may have been more than the model needed
	mostLarge   = 64       // large results of a conversation that are compared with the answer
	counted     = 32 << 10 // bytes of a result that are counted; the rest is as dense
)

// kind is what a result was of.
type kind int

const (
	other kind = iota
	command
	file
)

// kinds are the tools that run commands and those that read files, of all three programs.
var kinds = map[string]kind{
	"bash": command, "bashoutput": command, "shell": command, "local_shell": command,
	"exec_command": command, "write_stdin": command, "powershell": command, "read_bash": command,
	"read_powershell": command, "run_and_display": command, "container.exec": command,
	"read": file, "grep": file, "glob": file, "ls": file, "notebookread": file, "view": file,
	"rg":        file,
	"read_file": file, "list_dir": file, "grep_files": file, "view_image": file, "show_file": file,
	"render_file_contents": file, "display_image": file,
}

// kindOf is what a tool does, by its name, before which an MCP server's may stand.
func kindOf(tool string) kind {
	tool = strings.ToLower(tool)
	for _, between := range []string{"__", "-", "."} {
		if k, ok := kinds[tool]; ok {
			return k
		}
		if i := strings.LastIndex(tool, between); i >= 0 && strings.Contains(tool, "webchat") {
			tool = tool[i+len(between):]
		}
	}
	return kinds[tool]
}

// talk is one conversation with a model, as it is read from a file.
type talk struct {
	file *reading
	side bool // a helper's: its answers are for another agent, so that nothing in it is a look

	now     *call
	asked   map[string]request // calls of tools without a result
	arrived []*held            // results since now began
	held    []*held            // results that the model holds, and that may have been for nothing
	answer  strings.Builder    // the model's text since the last result
}

// call is a call of a model.
type call struct {
	id     string
	model  string
	usage  usage
	used   bool // usage is known
	acts   bool // it called tools
	copied bool // it was billed in another file
	prose  []string
	named  []string // what the arguments of its calls of tools hold
}

// request is a call of a tool.
type request struct {
	kind kind
	path string // of a file that it names; empty: none
}

// held is a result that the model holds.
type held struct {
	request
	text   string
	size   int64 // bytes, with what is not in text
	more   int64 // tokens of pictures
	tokens int64 // 0: not counted yet
	start  int64 // how much the model held before it
	last   bool  // only an answer came after it, so far
	look   bool
	large  bool
	named  bool // the model came back to it
	lines  namedLines
	total  int64 // tokens, in all calls that held it
	cost   money
}

// begin is called with the first of each call of the model. Calls with one id are one.
func (t *talk) begin(id, model string) *call {
	if t.now != nil && id != "" && t.now.id == id {
		return t.now
	}
	t.flush()
	t.now = &call{id: id, model: model}
	if id != "" {
		t.now.copied = t.file.billedElsewhere(id)
	}
	return t.now
}

// requested notes that the call under way called a tool.
func (t *talk) requested(id, tool, path string, arguments []string) {
	if t.now == nil {
		t.begin("", "")
	}
	t.now.acts = true
	t.now.named = append(t.now.named, arguments...)
	if t.asked == nil || len(t.asked) > 10_000 { // results that never came
		t.asked = map[string]request{}
	}
	t.asked[id] = request{kindOf(tool), path}
}

// result notes what a call of a tool returned. cut is how many bytes of text there were beside it,
// more what pictures in it take.
func (t *talk) result(id, text string, cut, more int64) {
	r, ok := t.asked[id]
	if !ok {
		return // of a call that is not in this file, or that was answered
	}
	delete(t.asked, id)
	t.arrived = append(t.arrived, &held{request: r, text: text, size: int64(len(text)) + cut,
		more: more, last: true})
}

// count is how many tokens the result takes.
func (h *held) count() int64 {
	if h.tokens != 0 {
		return h.tokens
	}
	text := h.text[:min(len(h.text), counted)]
	for len(text) > 0 && len(text) < len(h.text) && !utf8.RuneStart(h.text[len(text)]) {
		text = text[:len(text)-1]
	}
	n, _ := tokens.Count(text)
	if h.tokens = h.more + int64(n); h.size > int64(len(text)) && len(text) > 0 {
		h.tokens = h.more + int64(float64(n)/float64(len(text))*float64(h.size))
	}
	return h.tokens
}

// flush ends the call under way: it is billed, and what it held with it.
func (t *talk) flush() {
	c := t.now
	if c == nil {
		return
	}
	t.now = nil
	rates := t.file.rates(c.model)
	switch {
	case !c.used:
		t.file.free++
	case !c.copied:
		t.file.pay(c, rates)
	}
	kept := t.held[:0]
	for _, h := range t.held {
		if h.large && !h.named && h.lines.in(c, h) {
			h.named, h.lines = true, namedLines{}
		}
		h.last = h.last && !c.acts
		if !h.look && !h.last && (!h.large || h.named) {
			continue
		}
		if c.used && !h.charge(c, rates) {
			t.file.settle(h)
			continue
		}
		kept = append(kept, h)
	}
	clear(t.held[len(kept):])
	t.held = kept
	if c.acts {
		t.answer.Reset()
	} else {
		for _, s := range c.prose {
			if t.answer.Len() < counted {
				t.answer.WriteString(s[:min(len(s), counted)])
				t.answer.WriteByte('\n')
			}
		}
	}
	t.take(c)
}

// take has the model hold what arrived after call c began.
func (t *talk) take(c *call) {
	start, open := c.usage.input(), 0
	for _, h := range t.held {
		if h.large && !h.named {
			open++
		}
	}
	for _, h := range t.arrived {
		h.start = start
		if h.size+h.more > large {
			h.large = h.count() > large && h.size == int64(len(h.text)) && open < mostLarge
		}
		if h.large {
			open++
			h.lines = linesOf(h.text)
		}
		start += max(h.tokens, h.size/4)
		t.held = append(t.held, h)
	}
	if len(t.arrived) > 0 {
		t.answer.Reset()
	}
	t.arrived = nil
}

// charge adds what call c took for the result; false: the model no longer holds it.
func (h *held) charge(c *call, by [2]rates) bool {
	n := min(h.count(), c.usage.input()-h.start)
	if n <= 0 {
		return false
	}
	h.tokens = n // what the call grew by at most: later ones hold more beside it
	if c.copied {
		return true
	}
	cached := min(max(0, c.usage.cached-h.start), n)
	h.total += n
	for i := range by {
		h.cost[i] += by[i].part(c.usage, n, cached)
	}
	return true
}

// prompt ends a turn: a person says something.
func (t *talk) prompt() {
	t.flush()
	n, _ := tokens.Count(t.answer.String())
	short := !t.side && strings.TrimSpace(t.answer.String()) != "" && n <= shortAnswer
	kept := t.held[:0]
	for _, h := range t.held {
		if h.last {
			h.look = h.look || short && h.kind != other
			h.last = false
		}
		if h.look || h.large && !h.named {
			kept = append(kept, h)
		}
	}
	clear(t.held[len(kept):])
	t.held = kept
	t.answer.Reset()
	clear(t.asked)
}

// compacted notes that the model no longer holds what it was given.
func (t *talk) compacted() {
	t.prompt()
	for _, h := range t.held {
		t.file.settle(h)
	}
	t.held = nil
}
