package offline

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// The session's tools this backend knows how to call.
const (
	fileTool  = "render_file_contents"
	runTool   = "run_and_display"
	imageTool = "display_image"
)

type (
	fileArgs struct {
		Path      string `json:"path"`
		StartLine int    `json:"startLine,omitempty"`
		EndLine   int    `json:"endLine,omitempty"`
	}
	runArgs struct {
		Command string `json:"command"`
	}
	imageArgs struct {
		Path string `json:"path"`
	}
)

// do answers one request; alone says that the prompt holds no other.
func (t *turn) do(r request, alone bool) {
	if t.err != nil {
		return
	}
	switch r.act {
	case show, picture:
		t.show(r)
	case run:
		t.run(r.text)
	case runBehind:
		t.background(r.text)
	case runTests:
		t.runTests()
	case stream:
		t.stream(r)
	case ask:
		t.ask(r)
	default:
		if named, ok := t.files.onlyPath(r.text); ok {
			t.show(named)
		} else if alone {
			t.help(r.text)
		} else {
			t.say(fmt.Sprintf("I do not understand %s. Say %s to see what I can do without a model.", quote(r.text), code("help")))
		}
	}
}

func (t *turn) show(r request) {
	f := t.files.find(t.ctx, r)
	if len(f.paths) == 0 {
		t.unknown(r, f)
		return
	}
	var files, images []any
	for _, p := range f.paths {
		if r.act == picture || !r.source && isPicture(p) {
			images = append(images, imageArgs{p})
		} else {
			files = append(files, fileArgs{p, r.from, r.to})
		}
	}
	if f.total > len(f.paths) {
		t.say(fmt.Sprintf("%d files match %s; here are the first %d.", f.total, code(r.text), len(f.paths)))
	} else if f.total > 1 {
		t.say(fmt.Sprintf("%d files match %s.", f.total, code(r.text)))
	}
	var results []agent.Result
	for _, part := range []struct {
		tool string
		args []any
	}{{fileTool, files}, {imageTool, images}} {
		if len(part.args) == 0 {
			continue
		}
		got, ok := t.call(part.tool, part.args...)
		if !ok {
			return
		}
		results = append(results, got...)
	}
	t.shown(results)
}

// shown says what the tools told, failures one by one.
func (t *turn) shown(results []agent.Result) {
	var told []string
	for _, r := range results {
		if r.Type == agent.Success {
			told = append(told, "“"+oneLine(r.TextForModel)+"”")
		}
	}
	switch {
	case len(told) == 1:
		t.say("Displayed. I only know what I was told: " + told[0] + ".")
	case len(told) > 1:
		t.say(fmt.Sprintf("Displayed %d of %d. I only know what I was told:\n\n- %s",
			len(told), len(results), strings.Join(told, "\n- ")))
	}
	for _, r := range results {
		t.refused(r)
	}
}

// refused says why a tool did not do it, if it did not.
func (t *turn) refused(r agent.Result) bool {
	switch r.Type {
	case agent.Success:
		return false
	case agent.Denied, agent.Rejected:
		t.say("It was not allowed, so nothing was done: " + cmp.Or(wording.Ended(r.TextForModel), "no reason was given."))
	default:
		t.say("That did not work: " + cmp.Or(wording.Ended(r.TextForModel), "no reason was given."))
	}
	return true
}

// unknown answers a name that no file has.
func (t *turn) unknown(r request, f found) {
	switch {
	case f.twins:
		t.say("Several files are called " + code(r.text) + ". Which one?\n\n" + bullets(f.near))
	case len(f.near) > 0:
		t.say("There is no file called " + code(r.text) + ". Similar names:\n\n" + bullets(f.near))
	case len(strings.Fields(r.text)) > 3:
		t.help(r.raw) // a sentence, not a name
	default:
		t.say("There is no file called " + code(r.text) + ", and none with a similar name." + t.among())
	}
	if t.files.more {
		t.say(fmt.Sprintf("I searched only the first %d files and folders. Give the full path of any other.", maxEntries))
	}
}

func (t *turn) among() string {
	if e := t.examples(); len(e) > 0 {
		return " You can try:\n\n" + strings.Join(e, "\n")
	}
	return ""
}

var exitStatus = regexp.MustCompile(`\bexit (?:code |status )?(-?\d+)`)

func (t *turn) run(command string) {
	results, ok := t.call(runTool, runArgs{command})
	if !ok || t.refused(results[0]) {
		return
	}
	told := results[0].TextForModel
	done := "Done."
	if m := exitStatus.FindStringSubmatch(told); m != nil && m[1] != "0" {
		done = "It ended with exit status " + m[1] + "."
	}
	t.say(done + " I only know what I was told: “" + oneLine(told) + "”.")
}

func (t *turn) runTests() {
	command := t.files.testCommand()
	switch {
	case command == "":
		t.say("I cannot tell how this project's tests are run: I look for go.mod, package.json, a Makefile with a test target, " +
			"Cargo.toml, pyproject.toml and a few more. Say " + code("run COMMAND") + " instead.")
	case !t.files.isCommand(command):
		program, _, _ := strings.Cut(command, " ")
		t.say("This project's tests are run by " + code(command) + ", but " + code(program) + " is not installed. Install it first.")
	default:
		t.run(command)
	}
}

func (t *turn) ask(r request) {
	t.begin()
	if t.err != nil {
		return
	}
	a, err := t.host.AskUser(t.ctx, agent.Question{Question: r.text, Choices: r.choices, AllowFreeform: true})
	switch {
	case err != nil:
		t.err = err
	case !a.Answered:
		t.say("You did not answer.")
	default:
		t.say("You said: " + quote(a.Text))
	}
}

// pictureNames are the extensions of what the picture tool shows; whether a
// file is one, the tool judges by its bytes.
var pictureNames = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".avif": true, ".svg": true,
}

func isPicture(p string) bool { return pictureNames[strings.ToLower(path.Ext(p))] }

func bullets(files []string) string {
	lines := make([]string, len(files))
	for i, f := range files {
		lines[i] = "- " + code("show "+f)
	}
	return strings.Join(lines, "\n")
}

// quote repeats a little of what was said.
func quote(s string) string {
	return code(wording.Cut(oneLine(s), 60))
}

func oneLine(s string) string { return strings.TrimRight(strings.Join(strings.Fields(s), " "), ".") }
