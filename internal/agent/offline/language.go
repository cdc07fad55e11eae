package offline

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// request is one thing a prompt asks for.
type request struct {
	do   func(*turn) // nil: nothing of the language
	text string      // as it was written
}

// spoken is made for the first prompt, which no start waits for.
var spoken = sync.OnceValue(func() (in struct {
	polite, joint, testsVerb, runVerb, behind, streamVerb, askVerb, showVerb, lines *regexp.Regexp
}) {
	in.polite = regexp.MustCompile(
		`(?i)^(?:(?:please|now|ok|hey|hi|hello|also|next|first|finally|and|then|` +
			`(?:can|could|would|will) you|i(?:'d| would) like (?:you )?to|let(?:'s| us))\b[,:]?\s+)+`)
	in.joint = regexp.MustCompile(`(?i)\s*[,;]?\s+(?:and\s+)?then\s+`)
	in.testsVerb = regexp.MustCompile(
		`(?i)^run\s+(?:all\s+)?(?:(?:the|my|our|its|these)\s+)?(?:project'?s?'?\s+)?` +
			`(?:unit\s+)?tests?(?:\s+suite)?[.!?]?$`)
	in.runVerb = regexp.MustCompile(`(?i)^(?:/?run\s+|\$\s+)(.+)$`)
	in.behind = regexp.MustCompile(`(?i)^(.+?)\s+in (?:the )?background$`)
	in.streamVerb = regexp.MustCompile(
		`(?i)^stream\s+(?:me\s+)?(\d[\d_]*)\s+words?(\s+slow(?:ly)?)?[.!]?$`)
	in.askVerb = regexp.MustCompile(`(?i)^ask\s+me\s+(.+)$`)
	in.showVerb = regexp.MustCompile(
		`(?i)^(?:/(image)|/?(show|cat|view|open|display))\s+(?:(?:me|us)\s+)?` +
			`(?:(?:the|my|our|this)\s+)?(?:((?:image|picture)s?)(?:\s+(?:of|file))?\s+|` +
			`(files?|folder|directory|(?:contents?|source)\s+of)\s+(?:the\s+)?)?(.+)$`)
	in.lines = regexp.MustCompile(
		`(?i)^(.+?)(?:[\s,(]+(?:from\s+)?lines?\s+|\s*:)(\d+)(?:\s*(?:-|–|\.\.|to)\s*(\d+))?\)?$`)
	return in
})

// maxRequests bounds what one prompt can set off.
const maxRequests = 20

// parse reads a prompt: one request a line, or several joined by "then". The rest of a line that
// runs a command is the command, unread. left counts the requests beyond maxRequests.
func parse(prompt string, w *tree) (requests []request, left int) {
	for line := range strings.Lines(prompt) {
		for rest := strings.TrimSpace(line); rest != ""; {
			var r request
			r, rest = parseOne(rest, w)
			last := len(requests) - 1
			switch {
			case r.do == nil && last >= 0 && requests[last].do == nil:
				requests[last].text += "\n" + r.text
			case len(requests) == maxRequests:
				left++
			default:
				requests = append(requests, r)
			}
		}
	}
	return requests, left
}

// parseOne reads the first request of a line and returns what follows it.
func parseOne(line string, w *tree) (r request, rest string) {
	s := spoken().polite.ReplaceAllString(line, "")
	first, rest := split(s)
	if spoken().testsVerb.MatchString(first) {
		return request{(*turn).runTests, line}, rest
	}
	if m := spoken().runVerb.FindStringSubmatch(s); m != nil {
		if b := spoken().behind.FindStringSubmatch(m[1]); b != nil && w.isCommand(b[1]) {
			return request{func(t *turn) { t.background(strings.Trim(b[1], "`")) }, line}, ""
		}
		if command := strings.Trim(m[1], "`"); w.isCommand(command) {
			return request{func(t *turn) { t.run(command) }, line}, ""
		}
		return request{nil, line}, ""
	}
	if m := spoken().askVerb.FindStringSubmatch(first); m != nil {
		return request{func(t *turn) { t.ask(m[1]) }, first}, rest
	}
	if m := spoken().streamVerb.FindStringSubmatch(first); m != nil {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], "_", ""))
		if err != nil { // it is too large to read, and as good as the largest
			n = maxWords + 1
		}
		return request{func(t *turn) { t.stream(n, m[2] != "") }, first}, rest
	}
	if f, ok := wish(first, w); ok {
		return request{func(t *turn) { t.show(f, first) }, first}, rest
	}
	return request{nil, first}, rest
}

// wish reads a request to see a file: with a verb, or nothing but its path.
func wish(text string, w *tree) (f fileArgs, ok bool) {
	if m := spoken().showVerb.FindStringSubmatch(text); m != nil {
		f = fileArgs{picture: m[1]+m[3] != "", source: m[4] != "" || strings.EqualFold(m[2], "cat")}
		return f.named(m[5]), true
	}
	f = f.named(text)
	return f, strings.ContainsAny(f.Path, "./") && w.exists(f.Path)
}

// split cuts a line at its first "then" outside of quotes.
func split(s string) (first, rest string) {
	for _, at := range spoken().joint.FindAllStringIndex(s, -1) {
		head := s[:at[0]]
		if strings.Count(head, `"`)%2 == 0 && strings.Count(head, "`")%2 == 0 {
			return head, s[at[1]:]
		}
	}
	return s, ""
}

// fileArgs are those of the tool that shows files, with what else the request says.
type fileArgs struct {
	Path      string `json:"path"`
	StartLine int    `json:"startLine,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	picture   bool   // it is to be shown as a picture
	source    bool   // its bytes are wanted, also of a picture
}

// named adds a name, with the lines that stand behind it.
func (f fileArgs) named(text string) fileArgs {
	if m := spoken().lines.FindStringSubmatch(text); m != nil {
		text, f.source = m[1], true
		f.StartLine, _ = strconv.Atoi(m[2]) // digits only; what is too large, the tool refuses
		if f.EndLine = f.StartLine; m[3] != "" {
			f.EndLine, _ = strconv.Atoi(m[3])
			f.StartLine, f.EndLine = min(f.StartLine, f.EndLine), max(f.StartLine, f.EndLine) // 3-1 is 1-3
		}
	}
	f.Path = strings.Trim(text, " `\"'“”‘’<>")
	return f
}
