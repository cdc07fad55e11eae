package offline

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// help answers what is none of the language: honestly, and with examples that
// work here.
func (t *turn) help(said string) {
	t.say("No model is connected, so I cannot answer questions" + t.unused() + ". Without one I can show files and run commands:")
	if examples := t.examples(); len(examples) > 0 {
		t.say(strings.Join(examples, "\n"))
	}
	if m := runVerb.FindStringSubmatch(strings.TrimSpace(said)); m != nil {
		word, _, _ := strings.Cut(m[1], " ")
		t.say("I did not run " + quote(m[1]) + ": " + code(word) + " is not a command on this machine.")
	}
	t.say("To connect a model, start webchat with " + code("--backend copilot") + " (GitHub Copilot CLI) " +
		"or with your own: " +
		code("--provider-url http://127.0.0.1:11434/v1 --model NAME") +
		", its key in " + code("--provider-key-file") + ". This session stays offline; a new one uses the model.")
}

// unused names what came with the prompt and needs a model.
func (t *turn) unused() string {
	var s string
	if t.options.Model != "" {
		s += " (the model " + code(t.options.Model) + " is not used)"
	}
	if n := len(t.prompt.Attachments); n > 0 {
		s += fmt.Sprintf(" or read your %s", plural(n, "attachment"))
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// examples are requests of this language that work in this workspace.
func (t *turn) examples() []string {
	var readme, other, image string
	for _, f := range t.files.list(t.ctx) {
		switch base := strings.ToLower(path.Base(f)); {
		case strings.HasPrefix(base, "."):
		case strings.HasPrefix(base, "readme"):
			readme = first(readme, f)
		case isPicture(f):
			image = first(image, f)
		default:
			other = first(other, f)
		}
	}
	var list []string
	add := func(format, arg string) {
		if arg != "" {
			list = append(list, "- "+code(fmt.Sprintf(format, arg)))
		}
	}
	if readme != "" {
		list = append(list, "- "+code("show me the readme"))
	}
	add("show %s", other)
	add("show %s lines 1-10", first(readme, other))
	add("show image %s", image)
	if t.files.testCommand() != "" {
		list = append(list, "- "+code("run the tests"))
	}
	for _, c := range []string{"git log --oneline -5", "ls -l", "dir"} {
		repository := !strings.HasPrefix(c, "git") || t.files.exists(".git")
		if repository && t.files.isCommand(c) {
			add("run %s", c)
			break
		}
	}
	return append(list, "- "+code("stream 200 words slowly")+" (to try the stream)", "- "+code("ask me which one? this | that")+" (to try a question)")
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// maxWords bounds one stream.
const maxWords = 200_000

// vocabulary holds words of one, two, three and four bytes a rune.
var vocabulary = strings.Fields(`the quick log keeps every event in order and the page shows each one as it comes
	naïve café über señor a stream of words flows until somebody stops it 世界 こんにちは здравствуй 🚀 🌍 then
	it ends with nothing lost because what was said is said and what was shown stays with whoever asked`)

// stream says r.words words, always the same ones.
func (t *turn) stream(r request) {
	n := min(r.words, maxWords)
	if r.words > maxWords {
		t.say(fmt.Sprintf("%d words at once are the most I can say. Here they are:", maxWords))
	}
	t.begin()
	piece, seed := "", uint32(1)
	if t.said.Len() > 0 {
		piece = "\n\n"
	}
	for i := range n {
		seed = seed*1664525 + 1013904223
		word := vocabulary[seed>>16%uint32(len(vocabulary))]
		if i%12 == 0 {
			r := []rune(word)
			word = string(unicode.ToUpper(r[0])) + string(r[1:])
		}
		switch {
		case i == n-1:
			piece += word + "."
		case i%96 == 95:
			piece += word + ".\n\n"
		case i%12 == 11:
			piece += word + ". "
		default:
			piece += word + " "
		}
		if r.slowly {
			t.wait(pace)
		}
		if r.slowly || len(piece) >= pieceBytes || i == n-1 {
			t.delta(piece)
			piece = ""
		}
		if t.err != nil {
			return
		}
	}
}
