package cage

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/proc"
)

// refusedBy runs a script confined, and returns what it says it was refused: the path from HOME, ~
// for a path below it, with what may be done.
func (y *yard) refusedBy(c *Cage, script string) (all []string, text string) {
	y.t.Helper()
	var out bytes.Buffer
	cmd, given, err := c.ConfineCommand(context.Background(),
		proc.Command{Args: []string{"sh", "-c", script}, Dir: y.work, Env: y.Env, Output: &out})
	if err != nil {
		y.t.Fatal(err)
	}
	exit, err := proc.Run(context.Background(), cmd)
	if err != nil {
		y.t.Fatal(err)
	}
	for _, refusal := range given.Refused(Ran{Dir: y.work, Command: script, Exit: exit.Code,
		Text: out.String()}) {
		all = append(all, y.brief(refusal))
	}
	slices.Sort(all)
	return all, out.String()
}

func (y *yard) brief(refusal event.SandboxRefused) string {
	short := func(p string) string {
		return strings.Replace(strings.Replace(p, y.work, "W", 1), y.home, "~", 1)
	}
	said := "reads "
	if refusal.Write {
		said = "writes "
	}
	if refusal.Kind == event.RefusedHost {
		said = "host "
	}
	if refusal.Probably {
		said = "probably " + said
	}
	said += short(refusal.What)
	for _, o := range refusal.Offers {
		if said += " " + string(o); o == event.OfferFolder {
			said += "=" + short(refusal.Folder)
		}
	}
	return said
}

// What programs really print when the kernel refuses them something is found, with what may be done
// about it, and what they print of other failures is not.
func TestRefusedByOutput(t *testing.T) {
	y := newYard(t, ".bashrc", ".ssh/id_rsa", "notes/n", "keys/a.pem", "code/other/x", "proj")
	y.Read = []string{"~/notes"}
	y.outside(
		`git init -q .; git config user.name a; git config user.email a@b; mkdir .vscode; echo 1 >.vscode/tasks.json; echo 1 >a
		git add -A; git commit -qm 1; git checkout -qb other; echo 2 >.vscode/tasks.json; echo 2 >a; git commit -qam 2; git checkout -q -; mkdir sub; echo A=1 | tee .env >sub/.env; echo .env >>.git/info/exclude
		ln -s ../other linked; git init -q --bare ~/code/remote.git`)
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		program, script string
		want            []string
		long            bool // make soak only
	}{
		{"cat", "cat ~/.bashrc", []string{"reads ~/.bashrc file outside"}, false},
		{"sh", "echo x >>~/.bashrc", []string{"writes ~/.bashrc file outside"}, false},
		{"bash", "bash -c 'echo x >>~/.bashrc'", []string{"writes ~/.bashrc file outside"}, false},
		{"sh", "echo x >~/.newrc", []string{"writes ~/.newrc outside"}, false},
		{"sh", "cat ../other/x",
			[]string{"probably reads ~/code/other/x file folder=~/code/other outside"}, false},
		{"cp", "cp a ~/code/other/y",
			[]string{"probably writes ~/code/other/y folder=~/code/other outside"}, false},
		{"cp", "cp ~/keys/b a", nil, false}, // it is not there outside either
		{"cp", "cp ~/keys/a.pem a", []string{"reads ~/keys/a.pem outside"}, false},
		{"mkdir", "mkdir -p ~/.config/relay", []string{"writes ~/.config outside"}, false},
		{"touch", "touch ~/notes/n", []string{"writes ~/notes/n file folder=~/notes outside"}, false},
		{"ls", "ls ~/code/other", []string{"reads ~/code/other folder=~/code/other outside"}, false},
		{"cat", "cat .env", []string{"reads W/.env file outside"}, false},
		{"sh", "echo x >.vscode/tasks.json",
			[]string{"writes W/.vscode/tasks.json folder=W/.vscode outside"}, false},
		{"rm", "rm -rf .vscode", []string{"writes W/.vscode/tasks.json folder=W/.vscode outside"}, false},
		{"sh", "cd sub && cat .env", []string{"reads W/sub/.env file outside"}, false},
		{"sh", "cd '" + y.work + "/sub' 2>/dev/null\ncat .env; exit 1",
			[]string{"reads W/sub/.env file outside"}, false},
		{"sh", "cd nothing; cat .env", []string{"reads W/.env file outside"}, false},
		{"sh", "cat linked/x", []string{"probably reads ~/code/other/x file folder=~/code/other outside"},
			false},
		{"sh", "/bin/sh -c 'echo x >.vscode/tasks.json'",
			[]string{"writes W/.vscode/tasks.json folder=W/.vscode outside"}, false},
		{"mv", "mv .vscode .v", []string{"writes W/.vscode outside"}, false},
		{"git", "git fetch -q ../remote.git",
			[]string{"probably reads ~/code/remote.git folder=~/code/remote.git outside"}, false},
		{"git", "git clone -q " + y.home + "/code/remote.git r",
			[]string{"reads ~/code/remote.git folder=~/code/remote.git outside"}, false},
		{"git", "git fetch -q ../nothing.git", nil, false},
		{"mv", "mv .git .git2", []string{"writes W/.git outside"}, false},
		{"git", "git config user.name b", []string{"writes W/.git/config outside"}, false},
		{"git", "git checkout -q other; git checkout -qf -",
			[]string{"writes W/.vscode/tasks.json folder=W/.vscode outside"}, false},
		{"git", "git -c core.hooksPath=/dev/null merge -q other 2>&1",
			[]string{"writes W/.vscode/tasks.json folder=W/.vscode outside"}, false},
		{"python3", "python3 -c 'open(\"" + y.home + "/.bashrc\", \"a\")'",
			[]string{"writes ~/.bashrc file outside"}, false},
		{"python3", "python3 -c 'open(\"" + y.home + "/.bashrc\")'",
			[]string{"reads ~/.bashrc file outside"}, false},
		{"python3", "python3 -c 'open(\".env\")'", []string{"reads W/.env file outside"}, false},
		{"node", "node -e 'fs.readFileSync(\"" + y.home + "/.bashrc\")'",
			[]string{"reads ~/.bashrc file outside"}, true},
		{"node", "node -e 'fs.writeFileSync(\"" + y.home + "/.bashrc\", \"\")'",
			[]string{"writes ~/.bashrc file outside"}, true},
		{"npm", "npm config set fund=false --location=user", []string{"writes ~/.npmrc outside"}, true},
		{"go", "go env -w GOFLAGS=-v", []string{"probably writes ~/.config/go/env outside"}, true},
		{"go", "go vet ../other/x.go", nil, true},
		{"curl", "curl -sS --noproxy '*' http://host.example/", []string{"host host.example outside"},
			false},
		{"python3", "python3 -m http.client nothing 2>&1; cat nothing /nothing/x ~/nothing/x", nil,
			false},
		{"sh", "cat ~/.bashrc || true", nil, false},
		{"sh", "echo 'open " + y.home + "/nothing/at/all: no such file or directory'; exit 1", nil,
			false},
		{"sh", "echo \"cat: a: Permission denied\"; echo 'the text Permission denied, and " +
			"/usr/bin/env: No such file'; exit 1", nil, false},
		{"sh", "mkdir a/b; rm nothing; cat /proc/1/mem /dev/nothing", nil, false},
		{"sh", "echo x >/tmp/x/y", nil, false},
	} {
		t.Run(one.script, func(t *testing.T) {
			if _, err := exec.LookPath(one.program); err != nil {
				t.Skip("not installed")
			}
			if one.long && os.Getenv("WEBCHAT_SOAK") == "" {
				t.Skip("it takes long: make soak; what it prints is read by TestThreat117RefusedByText")
			}
			got, text := y.refusedBy(c, one.script)
			if !slices.Equal(got, one.want) {
				t.Errorf("refused %q, not %q, by:\n%s", got, one.want, text)
			}
		})
	}
}

// A host that the door refused is known exactly, with the port if it is another one.
func TestRefusedHosts(t *testing.T) {
	y := newYard(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("not installed")
	}
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		"curl -fsS http://one.example/ https://two.example/ " +
			"http://three.example:4873/x": "host one.example host outside; host three.example:4873 host " +
			"outside; host two.example host outside",
		// it prints what the door says
		"curl -s http://one.example/":            "host one.example host outside",
		"curl -so /dev/null http://one.example/": "",
		"http_proxy=http://127.0.0.1:61080 NO_PROXY= no_proxy= curl -fsS " +
			"http://127.0.0.2:9/x": "host 127.0.0.2:9 outside",
	} {
		if got, text := y.refusedBy(c, script); strings.Join(got, "; ") != want {
			t.Errorf("%s: refused %q, not %q: %s", script, got, want, text)
		}
	}
}

// What was opened is not refused, even where a program says so.
func TestRefusedKnowsWhatIsOpen(t *testing.T) {
	y := newYard(t, ".bashrc", "code/other/x")
	if err := os.Symlink("other", y.home+"/code/link"); err != nil {
		t.Fatal(err)
	}
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	found := func() string {
		all, _ := y.refusedBy(c, "cat ~/code/link/x; echo 'open "+y.home+
			"/.bashrc: permission denied'; exit 1")
		return strings.Join(all, "; ")
	}
	if got := found(); got != "reads ~/.bashrc file outside; reads ~/code/other/x file "+
		"folder=~/code/other outside" {
		t.Errorf("refused %s", got)
	}
	for _, name := range []string{"~/.bashrc", "~/code/other/x"} {
		held, err := c.Hold(name)
		if err != nil {
			t.Fatal(err)
		}
		end, err := c.Open(held, proc.Readable)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = end() }() // the test is over
	}
	if got := found(); got != "" {
		t.Errorf("of what is open, refused %s", got)
	}
}

// A file that was opened cannot be replaced, as git does it: that is said, and what helps.
func TestRefusedReplacesNothingOpen(t *testing.T) {
	y := newYard(t)
	y.outside("git init -q .")
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	held, err := c.Hold(y.work + "/.git/config")
	if err != nil {
		t.Fatal(err)
	}
	end, err := c.Open(held, proc.Writable)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = end() }() // the test is over
	if got, text := y.refusedBy(c, "git config user.name b"); !slices.Equal(got,
		[]string{"writes W/.git/config outside"}) {
		t.Errorf("refused %q by %s", got, text)
	}
}

// THREATS 117: a guess is not made from slow programs' output, nor from errors that have another
// cause.
func TestThreat117RefusedByText(t *testing.T) {
	y := newYard(t, ".bashrc", ".npmrc", ".gnupg/pubring.kbx", "code/other/x")
	y.outside(`mkdir .vscode; echo 1 >.vscode/tasks.json`)
	c, err := New(y.Config)
	if err != nil {
		t.Fatal(err)
	}
	cmd, given, err := c.ConfineCommand(t.Context(), proc.Command{Dir: y.work, Env: y.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Confine.Ended()
	for _, one := range []struct {
		text string
		want string
	}{
		{"npm error code EROFS\nnpm error syscall open\nnpm error path HOME/.npmrc\nnpm error errno " +
			"-30\nnpm error EROFS: read-only file system, open 'HOME/.npmrc'", "writes ~/.npmrc outside"},
		{"Error: ENOENT: no such file or directory, open 'HOME/.bashrc'\n    at Object.openSync " +
			"(node:fs:573:18)", "reads ~/.bashrc file outside"},
		{"go: writing go env config: open HOME/.config/go/env: no such file or directory",
			"probably writes ~/.config/go/env outside"},
		{"/usr/bin/env: cannot write to HOME/.bashrc: Read-only file system",
			"writes ~/.bashrc file outside"},
		{"E: Could not open lock file HOME/code/other/x - open (2: No such file or directory)",
			"writes ~/code/other/x file folder=~/code/other outside"},
		{"E: Could not create HOME/code/other/new - open (2: No such file or directory)",
			"probably writes ~/code/other/new folder=~/code/other outside"},
		{"open HOME/code/other/x: permission denied",
			"reads ~/code/other/x file folder=~/code/other outside"},
		{"gpg: keyblock resource 'HOME/.gnupg/pubring.kbx': No such file or directory",
			"reads ~/.gnupg/pubring.kbx outside"},
		{"\x1b[31merror:\x1b[0m could not write \x1b[1m'HOME/.bashrc'\x1b[0m: Read-only file system",
			"writes ~/.bashrc file outside"},
		{"ssh: Could not resolve hostname git.example: Temporary failure in name resolution",
			"host git.example outside"},
		{"Get \"http://x.example/\": dial tcp: lookup x.example: no such host", "host x.example outside"},
		{"Error: getaddrinfo EAI_AGAIN y.example", "host y.example outside"},
		{"Error: getaddrinfo ENOTFOUND localhost", ""},
		{"HOME/.bashrc: line 3: syntax error", ""},
		{"cat: WORK/a: No such file or directory", ""},
		{"Permission denied (publickey).", ""},
		{"remote: Permission denied to somebody.", ""},
		{"no such file or directory", ""},
		{"see HOME/.bashrc for what may be denied", ""},
		{"open HOME/.config/nothing/x: no such file or directory", ""},
		{"/usr/bin/nothing: no such file or directory", ""},
		{"open /dev/fuse: permission denied", ""},
		{"/: Permission denied", ""},
		{strings.Repeat("a", 5000) + " HOME/.bashrc: Permission denied", ""},
	} {
		text := strings.NewReplacer("HOME", y.home, "WORK", y.work).Replace(one.text)
		var got []string
		for _, r := range given.Refused(Ran{Dir: y.work, Exit: 1, Text: text}) {
			got = append(got, y.brief(r))
		}
		if said := strings.Join(got, "; "); said != one.want {
			t.Errorf("%s\nsays %q, not %q", one.text, said, one.want)
		}
		if more := given.Refused(Ran{Dir: y.work, Text: text}); len(more) > 0 {
			t.Errorf("%s\nof a command that succeeded says %v", one.text, more)
		}
	}
	if found := given.Refused(Ran{
		Dir:  y.work,
		Text: "error: unable to unlink old '.vscode/tasks.json': Read-only file system",
	}); len(found) != 1 {
		t.Errorf("git goes on without the file, which says %v", found)
	}
}
