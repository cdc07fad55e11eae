package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// TestLanguage: what a prompt makes the agent do, in one workspace.
func TestLanguage(t *testing.T) {
	dir := folder(t, "go.mod=module x", "README.md", "LICENSE", "Dockerfile", "logo.png",
		"art/logo.svg", "a b.txt",
		"internal/agent/agent.go", "internal/agent/doc.go", "internal/event/doc.go", ".git/config",
		"node_modules/x/index.js",
		"cmd/main.go", "notes/one.md", "notes/two.md", "ignored/secret.md",
		".gitignore=ignored/\n*.log\n")
	file := func(p string) string { return `render_file_contents {"path":"` + p + `"}` }
	lines := func(p string, a, b int) string {
		return fmt.Sprintf(`render_file_contents {"path":%q,"startLine":%d,"endLine":%d}`, p, a, b)
	}
	cmd := func(c string) string {
		b, _ := json.Marshal(c)
		return `run_and_display {"command":` + string(b) + `}`
	}
	image := func(p string) string { return `display_image {"path":"` + p + `"}` }
	for prompt, want := range map[string][]string{
		"show go.mod":                              {file("go.mod")},
		"Show me go.mod":                           {file("go.mod")},
		"CAT go.mod":                               {file("go.mod")},
		"view the file go.mod":                     {file("go.mod")},
		"open go.mod.":                             {file("go.mod")},
		"display me the file `go.mod`":             {file("go.mod")},
		"please show me go.mod":                    {file("go.mod")},
		"could you please show me \"a b.txt\"":     {file("a b.txt")},
		"show a b.txt":                             {file("a b.txt")},
		"show me the contents of go.mod":           {file("go.mod")},
		"show go.mod:5-3":                          {lines("go.mod", 3, 5)},
		"show go.mod lines 3-5":                    {lines("go.mod", 3, 5)},
		"show go.mod lines 3 to 5":                 {lines("go.mod", 3, 5)},
		"show go.mod line 3":                       {lines("go.mod", 3, 3)},
		"show go.mod :2-9":                         {lines("go.mod", 2, 9)},
		"show go.mod:2-9":                          {lines("go.mod", 2, 9)},
		"show go.mod:7":                            {lines("go.mod", 7, 7)},
		"show me the readme":                       {file("README.md")},
		"show me the readme file lines 1-2":        {lines("README.md", 1, 2)},
		"show the license":                         {file("LICENSE")},
		"show go mod":                              {file("go.mod")},
		"show the docker file":                     {file("Dockerfile")},
		"show agent.go":                            {file("internal/agent/agent.go")},
		"show EVENT/doc.go":                        {file("internal/event/doc.go")},
		"show image logo.png":                      {image("logo.png")},
		"display the picture art/logo.svg":         {image("art/logo.svg")},
		"show logo.png":                            {image("logo.png")},
		"show the file logo.png":                   {file("logo.png")},
		"cat logo.svg":                             {file("art/logo.svg")},
		"show image nothing":                       {image("nothing")}, // the tool says so
		"show ../etc/passwd":                       {file("../etc/passwd")},
		"show /etc/passwd":                         {file("/etc/passwd")},
		"show internal":                            {file("internal")},
		"show me ../../etc/passwd":                 {file("../../etc/passwd")},
		"show me art/logo.svg":                     {image("art/logo.svg")},
		"/show art/logo.svg":                       {image("art/logo.svg")},
		"/show go.mod lines 3-5":                   {lines("go.mod", 3, 5)},
		"/image logo.png":                          {image("logo.png")},
		"/Run ls -l":                               {cmd("ls -l")},
		"/help":                                    nil,
		"go.mod":                                   {file("go.mod")},
		"internal/agent/agent.go:7-9":              {lines("internal/agent/agent.go", 7, 9)},
		"`art/logo.svg`":                           {image("art/logo.svg")},
		"internal/agent":                           {file("internal/agent")},
		"LICENSE":                                  nil, // a word
		"internal":                                 nil,
		"is internal/agent/agent.go any good?":     nil,
		"no/such/file.go":                          nil,
		"show doc.go":                              {file("doc.go")}, // two of them: the tool names both
		"show nothing.txt":                         {file("nothing.txt")},
		"show index.js":                            {file("index.js")},
		"show config":                              {file("config")},
		"run ls -l":                                {cmd("ls -l")},
		"$ ls -l then more":                        {cmd("ls -l then more")},
		"RUN ls; show go.mod":                      {cmd("ls; show go.mod")},
		"run `go vet ./...`":                       {cmd("go vet ./...")},
		"run FOO='a b' BAR=1 go env":               {cmd("FOO='a b' BAR=1 go env")},
		"run (cd x && ls)":                         {cmd("(cd x && ls)")},
		"run for i in 1 2; do echo $i; done":       {cmd("for i in 1 2; do echo $i; done")},
		"run for me the linter":                    nil,
		"run me through the architecture":          nil,
		"run nosuch --flag":                        nil,
		"$ nosuch":                                 nil,
		"$5 is not much":                           nil,
		"run the tests":                            {cmd("go test ./...")},
		"Run all the tests!":                       {cmd("go test ./...")},
		"run our unit tests then show go.mod":      {cmd("go test ./..."), file("go.mod")},
		"show go.mod then run ls then echo":        {file("go.mod"), cmd("ls then echo")},
		"show go.mod, and then show the readme":    {file("go.mod"), file("README.md")},
		"show go.mod\n\n  $ ls\nshow README.md\n":  {file("go.mod"), cmd("ls"), file("README.md")},
		"show \"a then b.txt\" then show go.mod":   {file("a then b.txt"), file("go.mod")},
		"what is the meaning of go.mod?":           nil,
		"":                                         nil,
		"stream 3 words":                           nil,
		"show me how the parser handles an error?": nil,
	} {
		calls, said := talkTo(t, host(), dir, prompt)
		if strings.Join(calls, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q calls\n  %s\nwant\n  %s", prompt, strings.Join(calls, "\n  "),
				strings.Join(want, "\n  "))
		}
		if said == "" {
			t.Errorf("%q: nothing is said", prompt)
		}
	}
}

func TestWords(t *testing.T) {
	dir := folder(t, "go.mod=module x", "README.md", "main.go", "main_test.go", "logo.png")
	for _, c := range []struct {
		prompt string
		tool   agent.Result
		want   []string
		not    string
	}{
		{prompt: "hello", want: []string{"No model is connected", "its start page says how", "show me the readme",
			"show go.mod", "show image logo.png", "run the tests"}},
		{prompt: "show go.mod\nand what now?", want: []string{"I have not read it",
			"do not understand `what now?`"}},
		{prompt: "run nosuch", want: []string{"`nosuch` is not a command on this machine"}},
		{prompt: "show go.mod", tool: agent.Result{
			Type:         agent.Success,
			TextForModel: "Displayed go.mod to user (50 lines)",
		},
			want: []string{"Displayed go.mod to user (50 lines). I have not read it."}},
		{prompt: "run ls", tool: agent.Result{
			Type:         agent.Success,
			TextForModel: "Command completed (exit 2, 3 lines)",
		},
			want: []string{"Command completed (exit 2, 3 lines). I have not read it."}},
		{prompt: "run ls", tool: agent.Result{
			Type:         agent.Denied,
			TextForModel: "Denied by the user: too early",
			Kind:         event.KindDenied,
		},
			want: []string{"not allowed", "too early"}, not: "I have not"},
		{
			prompt: "show go.mod",
			tool:   agent.Failure(event.KindNotRegular, "go.mod is a device"),
			want:   []string{"did not work: go.mod is a device."},
			not:    "I have not",
		},
	} {
		h := host()
		if c.tool.Type != "" {
			h.Tool = func(context.Context, agent.ToolCall) agent.Result { return c.tool }
		}
		_, said := talkTo(t, h, dir, c.prompt)
		for _, w := range c.want {
			if !strings.Contains(said, w) {
				t.Errorf("%q: %q is not in:\n%s", c.prompt, w, said)
			}
		}
		if c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%q: %q is in:\n%s", c.prompt, c.not, said)
		}
	}
}

// TestExamplesWork: what the helpful answer suggests can be sent as it is.
func TestExamplesWork(t *testing.T) {
	dir := folder(t, "go.mod=module x", "README.md", "main.go", "art/logo.png", "odd `name`.txt",
		".git/HEAD")
	_, said := talkTo(t, host(), dir, "help")
	tried := 0
	for line := range strings.Lines(said) {
		example, ok := strings.CutPrefix(strings.TrimSpace(line), "- `")
		if !ok {
			continue
		}
		example, _, _ = strings.Cut(example, "`")
		if strings.HasPrefix(example, "stream") || strings.HasPrefix(example, "ask") {
			continue
		}
		if calls, answer := talkTo(t, host(), dir, example); len(calls) != 1 {
			t.Errorf("the example %q makes %d calls and says %q", example, len(calls), answer)
		}
		tried++
	}
	if tried < 5 {
		t.Errorf("only %d examples in:\n%s", tried, said)
	}
}

func TestManyRequestsAreBounded(t *testing.T) {
	calls, said := talkTo(t, host(), folder(t, "f00.txt"), strings.Repeat("show f00.txt\n", 25))
	if len(calls) != maxRequests || !strings.Contains(said, "5 are left") {
		t.Errorf("%d calls; it says %s", len(calls), said)
	}
}

func TestLinksOutAreTheToolsToRefuse(t *testing.T) {
	dir, outside := folder(t, "a.txt"), folder(t, "deep/secret.txt")
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	calls, _ := talkTo(t, host(), dir, "show out/deep/secret.txt")
	if len(calls) != 1 {
		t.Errorf("calls %q, want the tool to judge the path", calls)
	}
	if calls, said := talkTo(t, host(), dir, "show secret.txt"); len(calls) != 1 ||
		strings.Contains(calls[0]+said, "out/") {
		t.Errorf("a name found through a link: %q, %s", calls, said)
	}
}

func TestProjectsTests(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"go.mod=module x", "go test ./..."},
		{`package.json={"scripts":{"test":"vitest"}}`, "npm test"},
		{"Makefile=all: build\n\ntest: all\n\tgo test\n", "make test"},
		{"Makefile=TEST := 1\ntests:\n\techo\n", ""},
		{"Makefile=test := 1\n", ""},
		{`package.json={"scripts":{}}`, ""},
		{"Cargo.toml=[package]", "cargo test"},
		{"pyproject.toml=[project]", "python -m pytest"},
		{"notes.txt=", ""},
	} {
		w, err := openTree(folder(t, c.file), only(t).Path)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.testCommand(); got != c.want {
			t.Errorf("%s: %q, want %q", c.file, got, c.want)
		}
		w.close()
	}
	if calls, said := talkTo(t, host(), folder(t, "Cargo.toml"), "run the tests"); len(calls) != 0 ||
		!strings.Contains(said, "`cargo` is not installed") {
		t.Errorf("without cargo: %q, %s", calls, said)
	}
}

// FuzzPrompt: whatever is said, the turn obeys the rules and ends.
func FuzzPrompt(f *testing.F) {
	for _, s := range []string{"show go.mod", "$ ls", "show [", "show **[!", "run `", "show \x00\xff",
		"show “x” then run", "stream 2 words then", "ask me ?|"} {
		f.Add(s)
	}
	dir := folder(f, "go.mod", "a/b.go")
	f.Fuzz(func(t *testing.T, prompt string) {
		if strings.Contains(strings.ToLower(prompt), "slow") {
			t.Skip("takes its time")
		}
		talkTo(t, host(), dir, prompt)
	})
}

// TestPrograms: what counts as a command of the machine or of the workspace.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not marked as programs there")
	}
	dir := folder(t, "plain.txt", "bin/tool", "script.sh", "top")
	for _, f := range []string{"bin/tool", "script.sh", "top"} {
		if err := os.Chmod(filepath.Join(dir, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w, err := openTree(dir, only(t, "ls").Path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for line, want := range map[string]bool{
		"ls": true, "ls; pwd": true, "ls&&pwd": true, "ls>x": true, "&& ls": false, "'ls' -l": true,
		"./script.sh x": true, "bin/tool": true,
		"./plain.txt": false, "./none": false, "../../x": false, "top": false, "cd bin": true,
		"! ls":                 true,
		"if true; then ls; fi": true, "if you like": false, "": false, "A=1": false,
		filepath.Join(dir, "top"): true,
	} {
		if got := w.isCommand(line); got != want {
			t.Errorf("isCommand(%q) = %v", line, got)
		}
	}
}

// A text is a look if it asks to see something that is there, and for nothing else.
func TestLooks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "README.md", "logo.png", "mux.go", "a/pump.go",
		"b/pump.go", "a/only.go", "a b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"show me mux.go": "mux.go", "cat go.mod": "go.mod", "open logo.png": "logo.png",
		"README.md": "README.md", "Please show me the readme.": "README.md",
		"can you show me only.go?": "a/only.go", "view a": "a", "open the folder a": "a",
		"show me pump.go": "a/pump.go b/pump.go", "show me mux.go lines 3-9": "mux.go",
		"a/only.go:3":     "a/only.go",
		"show me a b.txt": "a b.txt", "show the contents of logo.png": "logo.png",
		"show me how mux.go works": "", "show me none.go": "", "open README.md and sum it up": "",
		"show me mux.go then run ls": "", "show me mux.go\nand explain": "",
		"explain mux.go": "", "cat /etc/passwd": "", "show me ../x": "", "mux": "", "run ls": "", "": "",
		"show me " + strings.Repeat("x", 400): "",
	} {
		all, err := Looks(t.Context(), dir, text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range all {
			got = append(got, l.Path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
	picture, err := Looks(t.Context(), dir, "open logo.png")
	if err != nil || len(picture) != 1 || picture[0].Tool != "display_image" {
		t.Errorf("%+v, %v", picture, err)
	}
}
