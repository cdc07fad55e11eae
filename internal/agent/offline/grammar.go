package offline

import (
	"regexp"
	"strconv"
	"strings"
)

// act is what a request asks for.
type act int

const (
	talk act = iota // nothing of the language
	show
	picture
	run
	runBehind
	runTests
	stream
	ask
)

// request is one thing a prompt asks for.
type request struct {
	act  act
	text string // the path, command, question or talk
	raw  string // of a path: all that follows the verb
	// source says that the bytes are wanted even of a picture.
	source   bool
	from, to int // lines; 0: not given
	words    int
	slowly   bool
	choices  []string
}

var (
	polite = regexp.MustCompile(`(?i)^(?:please|kindly|now|ok|okay|hey|hi|hello|also|next|first|finally|and|then|` +
		`(?:can|could|would|will) you|i(?:'d| would) like (?:you )?to|let(?:'s| us))\b[,:]?\s+`)
	slash     = regexp.MustCompile(`(?i)^/(show|run|image)\s+`)
	showVerb  = regexp.MustCompile(`(?i)^(show|cat|view|open|display)\s+(.+)$`)
	whom      = regexp.MustCompile(`(?i)^(?:me|us)\s+(.+)$`)
	article   = regexp.MustCompile(`(?i)^(?:the|my|our|this|a|an)\s+(.+)$`)
	aPicture  = regexp.MustCompile(`(?i)^(?:image|picture)s?(?:\s+(?:of|file))?\s+(.+)$`)
	aFile     = regexp.MustCompile(`(?i)^(?:files?|(?:contents?|source) of)\s+(.+)$`)
	lineWords = regexp.MustCompile(`(?i)^(.+?)[\s,(]+(?:from\s+)?lines?\s+(\d+)(?:\s*(?:-|–|\.\.|to)\s*(\d+))?\)?$`)
	lineColon = regexp.MustCompile(`^(.+?)\s*:(\d+)(?:-(\d+))?$`)
	runVerb   = regexp.MustCompile(`(?i)^(?:run\s+|\$\s+)(.+)$`)
	testsVerb = regexp.MustCompile(`(?i)^run\s+(?:all\s+)?(?:(?:the|my|our|its|these)\s+)?(?:project'?s?'?\s+)?(?:unit\s+)?` +
		`tests?(?:\s+suite)?[.!?]?(?:\s*[,;]?\s+(?:and\s+)?then\s+(.+))?$`)
	streamVerb = regexp.MustCompile(`(?i)^stream\s+(?:me\s+)?(\d[\d_]*)\s+words?(\s+slow(?:ly)?)?[.!]?$`)
	askVerb    = regexp.MustCompile(`(?i)^ask\s+me\s+(.+)$`)
	joint      = regexp.MustCompile(`(?i)\s*[,;]?\s+(?:(?:and\s+)?then\s+|and\s+(?:(?:run|show|cat|view|open|display|stream)\s|\$\s))`)
)

// maxRequests bounds what one prompt can set off.
const maxRequests = 20

// parse reads a prompt: one request per line, or several joined by "then". The
// rest of a line that runs a command is the command, unread. isCommand says
// whether a shell line begins with something that can be run. left counts the
// requests beyond maxRequests.
func parse(prompt string, isCommand func(line string) bool) (requests []request, left int) {
	for line := range strings.Lines(prompt) {
		rest := strings.TrimSpace(line)
		for rest != "" {
			var r request
			r, rest = parseOne(rest, isCommand)
			if last := len(requests) - 1; r.act == talk && last >= 0 && requests[last].act == talk {
				requests[last].text += "\n" + r.text
				continue
			}
			if len(requests) == maxRequests {
				left++
				continue
			}
			requests = append(requests, r)
		}
	}
	return requests, left
}

// parseOne reads the first request of a line and returns what follows it.
func parseOne(line string, isCommand func(string) bool) (r request, rest string) {
	s := line
	if m := slash.FindStringSubmatch(s); m != nil { // as in the page's composer
		s = strings.Replace(strings.ToLower(m[1]), "image", "show image", 1) + " " + s[len(m[0]):]
	}
	for {
		cut := polite.ReplaceAllString(s, "")
		if cut == s || cut == "" {
			break
		}
		s = cut
	}
	if m := testsVerb.FindStringSubmatch(s); m != nil {
		return request{act: runTests}, m[1]
	}
	if m := runVerb.FindStringSubmatch(s); m != nil {
		if c, ok := behind(m[1]); ok && isCommand(unwrap(c, "`")) {
			return request{act: runBehind, text: unwrap(c, "`")}, ""
		}
		if c := unwrap(m[1], "`"); isCommand(c) {
			return request{act: run, text: c}, ""
		}
		return request{act: talk, text: line}, ""
	}
	s, rest = split(s)
	if m := askVerb.FindStringSubmatch(s); m != nil {
		return parseQuestion(m[1]), rest
	}
	if m := streamVerb.FindStringSubmatch(s); m != nil {
		// A number too large to read is as good as the largest.
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], "_", ""))
		if err != nil {
			n = maxWords + 1
		}
		return request{act: stream, words: n, slowly: m[2] != ""}, rest
	}
	if m := showVerb.FindStringSubmatch(s); m != nil {
		return parseShow(strings.ToLower(m[1]), m[2]), rest
	}
	return request{act: talk, text: s}, rest
}

// split cuts a line at its first "then" (or "and run", "and show", …) outside
// quotes.
func split(s string) (first, rest string) {
	for _, at := range joint.FindAllStringIndex(s, -1) {
		head := s[:at[0]]
		if head == "" || strings.Count(head, `"`)%2 != 0 || strings.Count(head, "`")%2 != 0 {
			continue
		}
		return head, strings.TrimLeft(s[at[0]:], " \t,;")
	}
	return s, ""
}

func parseShow(verb, rest string) request {
	r := request{act: show, raw: rest, source: verb == "cat"}
	pick := func(re *regexp.Regexp) bool {
		m := re.FindStringSubmatch(rest)
		if m != nil {
			rest = m[1]
		}
		return m != nil
	}
	pick(whom)
	pick(article)
	if verb != "cat" && pick(aPicture) {
		r.act = picture
	} else if pick(aFile) {
		r.source = true
		pick(article)
	}
	if u := unwrapAny(rest); u != rest {
		r.text = u
		return r
	}
	if r.act == show {
		for _, re := range []*regexp.Regexp{lineWords, lineColon} {
			if m := re.FindStringSubmatch(rest); m != nil {
				rest = m[1]
				r.from, _ = strconv.Atoi(m[2])
				r.to = r.from
				if m[3] != "" {
					r.to, _ = strconv.Atoi(m[3])
				}
				r.source = true
				break
			}
		}
	}
	r.text = unwrapAny(strings.TrimSpace(rest))
	return r
}

func parseQuestion(s string) request {
	r := request{act: ask, text: s}
	// "which one? red | green": what follows the mark is to choose from.
	if q, list, found := strings.Cut(s, "?"); found && strings.Contains(list, "|") {
		r.text = q + "?"
		for c := range strings.SplitSeq(list, "|") {
			if c = strings.TrimSpace(c); c != "" {
				r.choices = append(r.choices, c)
			}
		}
	}
	return r
}

// unwrapAny takes one pair of quotes off s.
func unwrapAny(s string) string {
	for _, pair := range []string{"`", `"`, "'", "“”", "‘’", "<>"} {
		if u := unwrap(s, pair); u != s {
			return u
		}
	}
	return s
}

// unwrap takes the one or two runes of pair off both ends of s, if they are
// there and nowhere else.
func unwrap(s, pair string) string {
	r := []rune(pair)
	open, shut := string(r[0]), string(r[len(r)-1])
	if in, ok := strings.CutPrefix(s, open); ok {
		if in, ok = strings.CutSuffix(in, shut); ok && in != "" && !strings.ContainsAny(in, pair) {
			return in
		}
	}
	return s
}
