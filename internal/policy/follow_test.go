package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"webchat/internal/agent"
)

// The folder a shell is in after a command, derived from the command's text.
func TestFollow(t *testing.T) {
	ws := lay(t, "src/deep/", "sub/", "a.txt")
	link(t, "src", filepath.Join(ws, "kind"))
	link(t, "/etc", filepath.Join(ws, "away"))
	for command, want := range map[string]string{
		"ls": ".", "go test ./...": ".", "go test | tail -3 > x; make && ls || pwd": ".", "(cd ./src && ls)": ".", "echo $(cd ./src; pwd)": ".", "cd .": ".", "cd $W": ".", "cd $W && make": ".", "cd ./src && cd ..": ".", "cd ./src/deep/../.. && ls": ".", "X=1 make": ".", "if make; then ls; fi": ".", "make &": ".",
		"cd ./src": "src", "cd $W/src": "src", "cd ./src && go test": "src", "cd ./src && cd ./deep": "src/deep", "ls && cd ./src && ls": "src", "make; cd ./sub": "sub", "cd './src'": "src",
		// What is not known.
		"cd src": "", "cd": "", "cd -": "", "cd ~": "", "cd $HOME": "", "cd ./none": "", "cd ./a.txt": "", "cd ./kind": "", "cd ./away": "", "cd -P ./src": "", "cd ./src; ls": "", "cd ./src || ls": "", "ls || cd ./src": "", "cd ./src | cat": "", "cat | cd ./src": "", "! cd ./src": "", "{ cd ./src; }": "", "if cd ./src; then ls; fi": "", "while cd ./src; do ls; done": "", "time cd ./src": "", "cd ./src > x && cd ../sub &": "",
		"./src": "", "src": "", "..": "", "/etc": "", "ls && ./src": "",
		"pushd ./src": "", "popd": "", "eval ls": "", "source x": "", ". ./x": "", "exec ls": "", "builtin cd ./src": "", "command cd ./src": "", "alias ls=cd": "", "trap 'cd /' EXIT": "", "f() { cd /; }": "", "function ls { cd /; }": "", "export CDPATH=/": "", "CDPATH=/": "", "PROMPT_COMMAND='cd /'": "", "declare x": "", "read x": "", "set -P": "", "shopt -s autocd": "", "$x ./src": "", "c\\d ./src": "", "'cd' ./src": "src", "c'd' ./src": "src", "for cd in a; do ls; done": "", "coproc ls": "", "if": "", "": ".",
	} {
		if want != "" {
			want = filepath.Join(ws, want)
		}
		if got := Follow(strings.ReplaceAll(command, "$W", ws), ws); got != want {
			t.Errorf("%q leads to %q, want %q", command, got, want)
		}
	}
	if Follow("ls", "") != "" {
		t.Error("from nowhere it leads somewhere")
	}
}

// A real shell is where Follow says, once its command succeeded; and where it was, if Follow says
// that a command does not leave it.
func TestFollowIsWhereShellsAre(t *testing.T) {
	ws := lay(t, "src/deep/", "sub/", "a.txt")
	var shells []string
	for _, name := range []string{"bash", "dash", "zsh"} {
		if bin, err := exec.LookPath(name); err == nil {
			shells = append(shells, bin)
		}
	}
	if len(shells) == 0 {
		t.Skip("no shell is here")
	}
	parts := []string{"cd ./src", "cd ..", "cd ./sub", "cd " + ws, "cd .", "true", "false", "pwd", "cd ./none", "cd src", "(cd ./src)", "x=1", "eval 'cd /'", "{ cd ./src; }", "true | cd ./sub", "if true; then cd ./src; fi", "! cd ./src", "cd ./src || true", "f() { cd /; }", "f", "cd - >/dev/null", "pushd ./src", "for d in ./src; do cd $d; done", "$(echo cd) ./src", "alias true=cd", "cd './src'", "cd \"./src\"", "c\\d ./src"}
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		for i, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 4).Draw(rt, "parts") {
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{" && ", "; ", " || ", "\n"}).Draw(rt, "join"))
			}
			b.WriteString(p)
		}
		command := b.String()
		to := Follow(command, ws)
		if to == "" {
			return
		}
		for _, shell := range shells {
			c := exec.Command(shell, "-c", command+"\nstatus=$?; echo; echo \"$status $(pwd -P)\"")
			c.Dir, c.Env = ws, []string{"PATH=" + os.Getenv("PATH")}
			out, _ := c.Output()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			status, at, _ := strings.Cut(lines[len(lines)-1], " ")
			if at != to && (status == "0" || to == ws) {
				rt.Fatalf("%s is in %q after %q (%s), not in %q", filepath.Base(shell), at, command, status, to)
			}
		}
	})
}

// A command that goes to its folder first may be granted where the shell's own is not known.
func TestGrantsInAFolderThatIsNotKnown(t *testing.T) {
	ws := lay(t, "src/", ".env")
	p := New(Config{Workspace: ws})
	for command, want := range map[string]string{
		"cd " + ws + " && go test ./...":      "commands that begin with `go test`, with harmless options, inside this workspace",
		"cd " + ws + "/src && go test | tail": "commands that begin with `go test`, in `src`, with harmless options, inside this workspace",
		"go test ./...":                       "", "cd ./src && go test": "", "cd " + ws + "; go test": "", "cd " + ws + " || go test": "", "cd /etc && go test": "", "make": "", "cd " + ws + " && make": "", "cd " + ws + " && cat .env && go test": "", "cd " + ws + " && go test; go test": "",
	} {
		got := texts(p.Grants(agent.Permission{Kind: agent.KindShell, ToolName: "bash", Resource: command, Cwd: ws, CwdUnknown: true}))
		if want == "" && len(got) > 0 || want != "" && (len(got) != 2 || got[0] != want) {
			t.Errorf("%q: %q", command, got)
		}
	}
}
