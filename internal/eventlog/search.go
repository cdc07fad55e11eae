package eventlog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"webchat/internal/event"
)

// Hit is an event that holds what was searched for.
type Hit struct {
	Seq  int64
	Data event.Data
	// Parts is the text around the match: plain, matched, plain, and so on. The first is plain and
	// may be empty.
	Parts []string
}

// Snippet is the text around the match.
func (h *Hit) Snippet() string {
	if h == nil {
		return ""
	}
	return strings.Join(h.Parts, "")
}

// maxSearched is how many bytes of one event are searched.
const maxSearched = 256 << 10

// Text returns what a search looks at in an event: prompts, answers, the names of tools and the
// texts of their arguments. Empty: nothing.
func Text(d event.Data) string {
	text := ""
	switch d := d.(type) {
	case event.UserMessage:
		text = d.Content
	case event.AssistantMessage:
		text = d.Content
	case event.ToolExecutionStart:
		text = d.ToolName + argumentTexts(d.Arguments)
	}
	if len(text) > maxSearched {
		text = strings.ToValidUTF8(text[:maxSearched], "")
	}
	return text
}

// argumentTexts are the values of an object that are texts, by their names.
func argumentTexts(raw json.RawMessage) string {
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return "" // no object: nothing a person would look for
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var text string
		if json.Unmarshal(values[name], &text) == nil {
			b.WriteString(" " + text)
		}
	}
	return b.String()
}

// Word is a piece of a text that can be searched for.
type Word struct {
	Text     string // in small letters
	From, To int    // its bytes in the text
}

// maxWord is how many bytes of a word count.
const maxWord = 64

// Words takes a text apart as a search sees it: letters and digits, whatever their case; each
// character by itself in scripts that write no spaces.
func Words(text string) []Word {
	var words []Word
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, Word{small(text[start:at]), start, at})
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
			unicode.Khmer, unicode.Myanmar):
			end(i)
			words = append(words, Word{string(r), i, i + utf8.RuneLen(r)})
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r) && start >= 0:
			if start < 0 {
				start = i
			}
		default:
			end(i)
		}
	}
	end(len(text))
	return words
}

func small(word string) string {
	word = strings.ToLower(word)
	if len(word) > maxWord {
		word = strings.ToValidUTF8(word[:maxWord], "")
	}
	return word
}

// minPrefix is how many bytes the last word of a search needs to find longer ones.
const minPrefix = 3

// Finder looks for words in texts: a text matches when it holds each of them. The last one may be
// the beginning of a word, so that a search can be typed.
type Finder struct {
	words  []string
	prefix bool
}

// NewFinder returns the finder of what a user typed.
func NewFinder(query string) Finder {
	var f Finder
	for _, w := range Words(query) {
		f.words = append(f.words, w.Text)
	}
	if n := len(f.words); n > 0 {
		f.prefix = len(f.words[n-1]) >= minPrefix
	}
	return f
}

// Terms are the words; prefix says that the last may be a beginning.
func (f Finder) Terms() (words []string, prefix bool) { return f.words, f.prefix }

func (f Finder) is(i int, word string) bool {
	return word == f.words[i] || f.prefix && i == len(f.words)-1 && strings.HasPrefix(word, f.words[i])
}

// How much of a text a hit shows, in bytes.
const (
	hitBefore = 40
	hitLength = 160
)

// Parts cuts the text around the first of the words: plain, matched, plain …
func (f Finder) Parts(text string) []string {
	words := Words(text)
	first := 0
	if i := slices.IndexFunc(words, func(w Word) bool { return f.any(w.Text) }); i >= 0 {
		first = words[i].From
	}
	from := startOfWord(text, max(0, first-hitBefore))
	to := min(len(text), from+hitLength)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	var parts []string
	plain := ""
	if from > 0 {
		plain = "…"
	}
	at := from
	for _, w := range words {
		if w.From < from || w.To > to || !f.any(w.Text) {
			continue
		}
		parts = append(parts, oneLine(plain+text[at:w.From]), text[w.From:w.To])
		plain, at = "", w.To
	}
	plain += text[at:to]
	if to < len(text) {
		plain += "…"
	}
	return append(parts, oneLine(plain))
}

func (f Finder) any(word string) bool {
	for i := range f.words {
		if f.is(i, word) {
			return true
		}
	}
	return false
}

// startOfWord goes on from at to where a word begins, if that is near.
func startOfWord(text string, at int) int {
	if at == 0 {
		return 0
	}
	for i := at; i < min(len(text), at+24); i++ {
		if text[i] == ' ' || text[i] == '\n' {
			return i + 1
		}
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// oneLine makes line ends and other controls spaces; a row of a list has one line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
