package offline

import (
	"fmt"
	"strings"
	"unicode"

	"webchat/internal/agent"
	"webchat/internal/displays"
	"webchat/internal/wording"
)

func (t *turn) show(f fileArgs, prompt string) {
	path, ok := t.files.find(t.ctx, f.Path)
	if !ok && len(strings.Fields(f.Path)) > 3 { // a sentence, not a name
		t.help(prompt)
		return
	}
	f.Path = path // of a file there is not, the tool says so, and which are like it
	t.repeat(t.call(f.display()))
}

// display is the call that shows the file.
func (f fileArgs) display() (tool string, arguments any) {
	tool = displays.RenderFile
	if f.picture {
		tool = displays.DisplayImage
	} else if !f.source {
		tool = displays.Shows(f.Path)
	}
	if tool != displays.RenderFile {
		return tool, map[string]string{"path": f.Path}
	}
	return tool, f
}

func (t *turn) run(command string) {
	t.repeat(t.call(displays.RunCommand, map[string]string{"command": command}))
}

// repeat repeats what a tool returned to the model there is not; ok is false if it was not called.
func (t *turn) repeat(r agent.Result, ok bool) {
	switch text := oneLine(r.TextForModel); {
	case !ok:
	case r.Type == agent.Success:
		t.say(text + ". I have not read it.")
	case r.Type == agent.Denied, r.Type == agent.Rejected:
		t.say("It was not allowed, so nothing was done: " + wording.Ended(text))
	default:
		t.say("That did not work: " + wording.Ended(text))
	}
}

func (t *turn) runTests() {
	command := t.files.testCommand()
	switch program, _, _ := strings.Cut(command, " "); {
	case command == "":
		t.say("I cannot tell how this project's tests are run: I look for go.mod, package.json, a " +
			"Makefile with a test target, " +
			"Cargo.toml, pyproject.toml and a few more. Say " + code("run COMMAND") + " instead.")
	case !t.files.isCommand(command):
		t.say("This project's tests are run by " + code(command) + ", but " + code(program) +
			" is not installed. Install it first.")
	default:
		t.run(command)
	}
}

// ask asks the user: of "which one? red | green" what follows the mark is to choose from.
func (t *turn) ask(text string) {
	q := agent.Question{Question: text, AllowFreeform: true}
	if head, list, found := strings.Cut(text, "?"); found && strings.Contains(list, "|") {
		q.Question = head + "?"
		for c := range strings.SplitSeq(list, "|") {
			q.Choices = append(q.Choices, strings.TrimSpace(c))
		}
	}
	t.begin()
	if t.err != nil {
		return
	}
	a, err := t.host.AskUser(t.ctx, q)
	switch {
	case err != nil:
		t.err = err
	case !a.Answered:
		t.say("You did not answer.")
	default:
		t.say("You said: " + quote(a.Text))
	}
}

// help answers what is none of the language, with examples that work here.
func (t *turn) help(prompt string) {
	unused := ""
	if t.options.Model != "" {
		unused = " (the model " + code(t.options.Model) + " is not used)"
	}
	if n := len(t.prompt.Attachments); n > 0 {
		unused += " or read your " + wording.Plural(n, "attachment")
	}
	t.say("No model is connected, so I cannot answer questions" + unused +
		". Without one I can show files and run commands:")
	t.say(strings.Join(t.examples(), "\n"))
	if m := spoken().runVerb.FindStringSubmatch(strings.TrimSpace(prompt)); m != nil {
		word, _, _ := strings.Cut(m[1], " ")
		t.say("I did not run " + quote(m[1]) + ": " + code(word) + " is not a command on this machine.")
	}
	t.say("To connect a model, open a new session: its start page says how. This one stays offline.")
}

// examples are requests of this language that work in this workspace.
func (t *turn) examples() (list []string) {
	add := func(format, arg string) {
		if arg != "" {
			list = append(list, "- "+code(fmt.Sprintf(format, arg)))
		}
	}
	if readme := t.files.first(isReadme); readme != "" {
		list = append(list, "- "+code("show me the readme"))
	}
	other := t.files.first(func(p string) bool {
		return !isReadme(p) && !isPicture(p) && !strings.HasPrefix(p, ".")
	})
	add("show %s", other)
	add("show %s lines 1-10", other)
	add("show image %s", t.files.first(isPicture))
	if t.files.testCommand() != "" {
		list = append(list, "- "+code("run the tests"))
	}
	if t.files.exists(".git") && t.files.isCommand("git") {
		add("run %s", "git log --oneline -5")
	} else {
		add("run %s", map[bool]string{true: "ls -l", false: "dir"}[t.files.isCommand("ls")])
	}
	return append(list, "- "+code("stream 200 words slowly")+" (to try the stream)",
		"- "+code("ask me which one? this | that")+" (to try a question)")
}

// maxWords bounds one stream.
const maxWords = 200_000

// vocabulary holds words of one, two, three and four bytes a rune.
var vocabulary = strings.Fields(
	`the quick log keeps every event in order and the page shows each one as it comes
	naïve café über señor a stream of words flows until somebody stops it 世界 こんにちは здравствуй 🚀 🌍 then
	it ends with nothing lost because what was said is said and what was shown stays with whoever asked`)

// stream says so many words, always the same ones, in sentences and paragraphs.
func (t *turn) stream(words int, slowly bool) {
	if words > maxWords {
		words = maxWords
		t.say(fmt.Sprintf("%d words at once are the most I can say. Here they are:", maxWords))
	}
	t.begin()
	piece, seed := t.gap(), uint32(1)
	for i := 1; i <= words && t.err == nil; i++ {
		seed = seed*1664525 + 1013904223
		word := []rune(vocabulary[seed>>16%uint32(len(vocabulary))])
		if i%12 == 1 {
			word[0] = unicode.ToUpper(word[0])
		}
		piece += string(word)
		switch {
		case i == words:
			piece += "."
		case i%96 == 0:
			piece += ".\n\n"
		case i%12 == 0:
			piece += ". "
		default:
			piece += " "
		}
		if slowly {
			t.wait(pace)
		}
		if slowly || len(piece) >= pieceBytes || i == words {
			t.delta(piece)
			piece = ""
		}
	}
}

// quote repeats a little of the prompt.
func quote(s string) string { return code(wording.Cut(oneLine(s), 60)) }

func oneLine(s string) string {
	return strings.TrimRight(strings.Join(strings.Fields(s), " "),
		".")
}
