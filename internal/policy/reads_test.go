package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// readable is a workspace with a repository, links and what may hold secrets.
func readableWorkspace(t *testing.T) (ws string) {
	t.Helper()
	ws = lay(t, "a.txt", "b.txt", "src/main.go", "src/deep/x.go", "sub/.env", "deploy.key", "out.log", "linked/a.txt", "plain/a.txt", "plain/b c.txt",
		".git/HEAD", ".git/objects/", ".git/refs/", "bare/HEAD", "bare/objects/", "bare/refs/", ".vscode/tasks.json")
	for name, text := range map[string]string{".git/config": "[core]\n\trepositoryformatversion = 0\n", "a.txt": "one\ntwo\nthree\n", "bare/config": "[core]\n\tfsmonitor = evil\n"} {
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(t, "/etc", filepath.Join(ws, "away"))
	link(t, "sub/.env", filepath.Join(ws, "innocent"))
	link(t, "src", filepath.Join(ws, "inner"))
	link(t, "/etc/passwd", filepath.Join(ws, "linked", "x.go"))
	return ws
}

// What the table lists only reads, alone, joined, and in loops.
var onlyReading = []string{
	"ls", "ls -la", "ls src *.txt", "cat a.txt", "cat a.txt b.txt src/main.go", "cat ./src/main.go", "cat -- a.txt", "cat 'plain/b c.txt'", `cat "plain/b c.txt"`, "cat *.txt", "cat src/*.go", "cat src/deep/?.go",
	"head -5 a.txt", "head -n 5 a.txt", "head -n5 a.txt", "head --lines=5 a.txt", "tail -n +2 a.txt", "wc -l a.txt src/main.go", "nl a.txt", "stat -c %s a.txt", "file a.txt", "du -sh src", "tree -L 2 src",
	"pwd", "echo hello", "echo 'a $x `b`'", "printf '%s\\n' a b", "printf '%-5s|%5.1f %d%%\\n' a 1 2", "date +%s", "date -u", "sleep 1", "true", "test -f a.txt", "[ -d src ]", "test 1 -eq 1", "basename src/main.go", "dirname src/main.go", "realpath a.txt", "which go", "env",
	"sort -u a.txt", "uniq -c a.txt", "cut -d, -f1 a.txt", "tr a-z A-Z", "diff -u a.txt b.txt", "diff -r src plain", "cmp a.txt b.txt", "sha256sum a.txt",
	"sed -n 1,20p a.txt", "sed -n '1,20p;25p' a.txt", "sed -n '/one/,/two/p' a.txt", "sed -n -e 3p a.txt", "sed -n '$p' a.txt", "sed 5q a.txt",
	"grep -n one a.txt", "grep -rn 'func main' src", "grep -rnE 'a|b' --include=*.go src", "grep -rn --include='*.txt' one .", "grep -r --include='*.go' --include '*.md' one", "grep -e one -e two a.txt", "grep -c . a.txt", "grep -A3 -B2 one a.txt", "rg -n one src", "rg --files src", "rg -t go main src",
	"find src -name '*.go'", "find . -type f -name '*.go' -not -path './plain/*'", `find src \( -name '*.go' -o -name '*.md' \) -print`, "find . -maxdepth 2 ! -name x", "jq -r .name a.txt", "jq '.a | keys' a.txt",
	"gofmt -l src", "gofmt -d src/main.go", "go version", "go env GOPATH", "go list ./...", "go list -f '{{.Dir}}' ./src", "go doc fmt Println",
	"git status", "git status --short", "git log --oneline -5", "git log -n 3 --stat", "git log -p src/main.go", "git diff", "git diff HEAD~1 -- src", "git diff --stat main..dev", "git show HEAD", "git show HEAD:src/main.go", "git blame a.txt", "git blame -L 1,2 a.txt",
	"git branch", "git branch -a", "git branch --show-current", "git rev-parse --abbrev-ref HEAD", "git ls-files", "git ls-files -- src", "git describe --tags", "git remote -v", "git --no-pager log -3",
	"cat a.txt | head -3", "cat a.txt | grep one | sort | uniq -c", "ls && cat a.txt", "ls; pwd", "ls || true", "cat a.txt 2>/dev/null", "cat a.txt >/dev/null 2>&1", "ls &>/dev/null", "sort < a.txt", "cat <<< hello", "cat << 'E'\n$(touch x)\nE",
	"(ls)", "{ ls; pwd; }", "! test -f x", "time ls", "if test -f a.txt; then cat a.txt; else ls; fi", "if test -f x; then ls; elif test -d src; then pwd; fi", "for f in a.txt b.txt; do cat $f; done", `for f in *.txt; do echo "$f"; head -1 "$f"; done`, "for d in src plain; do ls ${d}; done",
	"while true; do cat a.txt; sleep 1; done", "ls\npwd\n", "cd ./src && cat main.go", "cd ./src && cat ../a.txt", "cd ./src; ls", "(cd ./src && ls) && cat a.txt", "cat a.txt \\\n  b.txt",
}

// What is not known to only read is asked about: by class of what has been used to pass tables
// like this one.
var notOnlyReading = []string{
	// programs outside of the table, or by another name
	"touch x", "rm a.txt", "mv a.txt b.txt", "cp a.txt b.txt", "tee x", "xargs cat", "awk '{print}' a.txt", "perl -e 1", "python3 -c 1", "node -e 1", "sh a.txt", "bash -c ls", "eval ls", "exec ls", "source a.txt", ". ./a.txt", "command ls", "builtin echo", "./cat a.txt", "/bin/cat a.txt", "src/cat",
	"env ls", "env X=1 ls", "nice ls", "sudo ls", "nohup ls", "timeout 1 ls", "xxd a.txt", "less a.txt", "more a.txt", "man ls", "export X=1", "unset X", "alias ls=rm", "trap ls EXIT", "set -x", "shopt -s dotglob", "read x", "cd", "cd -", "cd ~", "cd src", "cd ..", "pushd src", "'ls -la'", "l\\s", "$x", "=ls", "{ls,a}", "~/x",
	// options that write, start programs or name files in files
	"sort -o x a.txt", "sort -ox a.txt", "sort --output=x a.txt", "sort --outp=x a.txt", "sort --compress-program=sh a.txt", "sort -T . a.txt", "sort --files0-from=a.txt", "uniq a.txt out", "uniq -c a.txt out", "tree -o x", "tree -ao x", "tree -R -H . -L 1 -o x", "date -s 12:00", "date 01010000", "date --set=x", "date -f a.txt", "printf -v x a", "printf a%n PATH", "printf '%s%5n' a PATH", "printf %*n 1 PATH", "printf '%(%s)T'", "printf %ln PATH", "printf %d 'a[$(touch x)]'", "printf '%s %x' a 'PATH[(e)ls]'", "printf %d PATH=1", "printf %d --PATH",
	"file -C -m a.txt", "file -m a.txt b.txt", "file -z a.txt", "file -f a.txt", "sed -i s/a/b/ a.txt", "sed -n 'w x' a.txt", "sed 's/a/b/w x' a.txt", "sed -n '1e touch x' a.txt", "sed 's/a/touch x/e' a.txt", "sed -f a.txt b.txt", "sed -n 1r/etc/passwd a.txt", "sed --in-place 1p a.txt", "sed -ni 1p a.txt", "sed -n '1p;w x' a.txt", "sed -n \"1p\nw x\" a.txt", "sed -n '/a\\/e touch x/p' a.txt",
	"grep -f a.txt b.txt", "grep --file=a.txt b.txt", "rg --pre sh x src", "rg --pre=sh x src", "rg -z x src", "rg --search-zip x src", "rg --hostname-bin sh x src", "rg -f a.txt src", "rg --ignore-file=a.txt x", "diff -l a.txt b.txt", "diff --paginate a.txt b.txt", "diff -X a.txt src plain", "diff --to-file=/etc/passwd a.txt", "wc --files0-from=a.txt", "du --files0-from=a.txt", "du -X a.txt", "sha256sum -c a.txt", "tail -f a.txt", "tail --follow a.txt", "gofmt -w src", "gofmt src", "gofmt -l -cpuprofile=x src", "gofmt -l -w src",
	"find . -delete", "find . -exec rm {} +", `find . -exec rm {} \;`, "find . -execdir ls ';'", "find . -ok ls ';'", "find . -fprint x", "find . -fprintf x y", "find . -fls x", "find . -name x -o -delete", "find -L away", "find . -files0-from a.txt", "find . -newer /etc/passwd", "jq -f a.txt b.txt", "jq --from-file a.txt", "jq -L . x a.txt", "jq 'import \"a\" as a; .' a.txt", "jq --slurpfile a /etc/passwd . a.txt", "jq --rawfile a b . c",
	"test -v 'a[$(touch x)]'", "test 'a[$(touch x)]' -eq 1", "[ a -eq 1 ]", "[[ -f a.txt ]]", "[[ a -eq 1 ]]", "test -f /etc/passwd",
	"go env -w GOFLAGS=-toolexec=x", "go env -u X", "go list -export", "go list -compiled", "go list -toolexec=x", "go list -C sub", "go list -modfile=x", "go list -m x@latest", "go list -overlay=x", "go doc -http", "go version /bin/ls", "go run .", "go test", "go generate", "go list /etc", "go list ../...",
	"git -c core.pager=x log", "git -C sub status", "git --exec-path=x status", "git --git-dir=bare status", "git --paginate log", "git -p log", "git log --output=x", "git diff --output=x", "git log --ext-diff -p", "git diff --ext-diff", "git show --textconv", "git log --show-signature", "git log --format=%GG", "git log --pretty=format:%G?", "git diff --no-index /etc/passwd a.txt", "git diff -U /etc/passwd a.txt", "git log -U /etc/passwd", "git status -u /etc", "git branch '--format=%(signature)'", "git branch --sort=signature:key", "git diff -O/etc/x",
	"git branch new", "git branch -d main", "git branch -m x", "git branch --edit-description", "git remote add x y", "git remote show origin", "git remote update", "git rev-parse --parseopt", "git ls-files --exclude-from=x", "git ls-files -X x", "git blame --contents a.txt b.txt", "git blame --ignore-revs-file=x a.txt", "git describe --candidates", "git commit -m x", "git checkout .", "git fetch", "git grep -O x", "git grep x", "git stash", "git show HEAD:deploy.key", "git show :deploy.key", "git log -- deploy.key", "git diff -- away/x", "git log ':!a'", "git diff -- ':/'", "git", "git x", "git status; git add .",
	"cd ./bare && git status", "cd ./bare; git log",
	// paths
	"cat /etc/passwd", "cat ../x", "cat ~/x", "cat ~root/x", "cat away/passwd", "cat inner/../../x", "ls /", "ls ..", "ls away", "cat .env", "cat sub/.env", "cat deploy.key", "cat innocent", "cat *.key", "cat d*", "cat away/../etc/pass*", "ls -RL .", "ls -L --recursive", "du -aL .", "cat inner/../*.key", "cat sub/.e*", "head deploy.ke?", "cat < deploy.key", "cat < /etc/passwd", "grep -r x .", "grep -R one src", "grep -Rn one linked", "rg -L one src", "diff -r linked plain", "diff linked src", "gofmt -l linked", "gofmt -d .", "grep -r x", "grep -r --include='*.key' x .", "grep -r --include='*.go' --include='.e*' x", "grep -r --include='*.go' --exclude='*.md' x .", "grep -r --include='[!a]*' x .", "grep -rn x sub", "rg x", "rg x .", "diff -r . src", "diff -N sub plain", "diff sub plain", "cat src/../deploy.key", "cat $HOME/x", "cat **/x", "cat [a]*", "cat a{.txt,}", "cat file:///etc/passwd", "wc -c deploy.key", "stat /etc/passwd", "realpath /etc", "cat \"$F\"", "cat '/etc'/passwd", "cat /etc/*", "cat /e*/passwd", "for f in deploy.key; do cat $f; done", "for f in *; do cat $f; done", "for f in a 'b c'; do cat $f; done", "cd ./sub && cat .env", "cd ./away && cat passwd", "cd /etc && cat passwd", "cd ./src && cat ../../x", "ls; cd ..; cat x",
	// redirections and operators
	"ls > x", "ls >> x", "ls >| x", "ls <> x", "ls > /dev/null > x", "ls 2> x", "ls &> x", "ls >& x", "> x", "ls > $x", "ls 3>&1", "ls {fd}>x", "ls > /dev/tcp/a/1", "cat < /dev/tcp/a/1", "ls &", "ls & pwd", "coproc ls", "cat <(ls)", "ls >(cat)", "cat << E\n$(touch x)\nE", "cat << E\n`touch x`\nE", "cat <<< $(ls)", "cat <<< \"$x\"",
	// substitutions, variables, declarations
	"echo $(touch x)", "echo `touch x`", "echo \"$(touch x)\"", "echo ${x:=1}", "echo ${x@P}", "echo $((x=1))", "echo $x", "echo \"$x\"", "echo $'a'", "echo $\"a\"", "echo ${!x}", "echo \"a`b`\"", "echo \"a\\b\"", "X=1 ls", "X=1", "PATH=. ls", "LD_PRELOAD=x ls", "GIT_PAGER=x git log", "f() { ls; }", "function f { ls; }", "declare x", "local x", "let x=1", "((x=1))", "for ((;;)); do ls; done", "for PATH in a; do ls; done", "for IFS in a; do ls; done", "for path in src; do ls; done", "for cdpath in src; do ls; done", "for _ in a; do ls; done", "for x; do ls; done", "select x in a; do ls; done", "case a in a) ls;; esac", "for f in a b; do f=1; done", "for f in a; do cat ${f:0:1}; done", "for f in a; do cat ${f#x}; done",
	// what shells read differently
	"ls # ; touch x", "ls \u00a0x", "l\u200bs", "ls\rtouch x", "ls a^b", "ls ^a", "ls a~b", "cat d^", "cat ~HEAD", "ls =x", "ls !x", "ls !!", "echo a!b", "echo 'a\\'", "ls (N)", "ls *(e:touch:)", "ls *.(txt)", "ls @(a)", "ls a\\ b", "ls \\*", "if", "ls |", "", " ", "ls && rm a.txt", "rm a.txt; ls", "ls | sh", "ls | xargs rm", "ls | tee x", "if rm a.txt; then ls; fi", "if true; then rm a.txt; fi", "while rm a.txt; do ls; done", "for f in a; do rm $f; done", "(rm a.txt)", "{ rm a.txt; }", "! rm a.txt", "time rm a.txt", "ls || rm a.txt",
}

func TestThreat52OnlyReading(t *testing.T) {
	ws := readableWorkspace(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Me\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := New(Config{Workspace: ws, Home: home, Reading: true, Path: "/usr/bin:/bin"})
	asks := New(Config{Workspace: ws, Path: "/usr/bin:/bin"})
	shadowed := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin:" + ws + "/src"})
	for _, command := range onlyReading {
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}
		if got := p.Rule(t.Context(), act); got.Decision != event.Allow || !got.Rule.BuiltIn {
			t.Errorf("%q is asked about: %+v", command, got)
		}
		if got := asks.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is allowed without the built-in rule", command)
		}
		if got := shadowed.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is allowed where the workspace may hold the program", command)
		}
	}
	for _, command := range notOnlyReading {
		if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != "" {
			t.Errorf("%q is not asked about", command)
		}
	}
}

// Where the agent's shell is, is not known: only what does not depend on it is allowed.
func TestReadingInAFolderThatIsNotKnown(t *testing.T) {
	ws := readableWorkspace(t)
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	for command, want := range map[string]event.Decision{
		"cat a.txt": "", "ls": "", "git status": "", "rg one": "", "find . -name x": "", "cat *.txt": "", "echo one": event.Allow, "cat " + ws + "/a.txt": event.Allow,
		"cd " + ws + " && cat a.txt": event.Allow, "cd " + ws + "/src && cat main.go | head": event.Allow, "cd " + ws + " && git status": event.Allow, "cd " + ws + "; cat a.txt": "", "cd /etc && cat passwd": "", "cd " + ws + " && cat deploy.key": "",
	} {
		got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws, CwdUnknown: true})
		if got.Decision != want {
			t.Errorf("%q: %+v, want %q", command, got, want)
		}
	}
}

// What a pattern stands for may be an option, or, in another order, a file.
func TestThreat52Patterns(t *testing.T) {
	for command, names := range map[string][]string{
		"sort *": {"-o", "a.txt"}, "grep ?e b.txt": {"-e", "a.txt", "b.txt"}, "grep -v *": {"Prod.key", "a.txt"}, "grep one *y": {"Prod.key"},
	} {
		ws := lay(t, names...)
		p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
		if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != "" {
			t.Errorf("%q in a folder with %v: %+v", command, names, got)
		}
	}
}

// Links that lead back make a pattern stand for more names than can be looked at.
func TestThreat52PatternsAreBounded(t *testing.T) {
	ws := lay(t, "a.txt")
	for i := range 30 {
		link(t, ".", filepath.Join(ws, fmt.Sprint("back", i)))
	}
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	rounds := func(body string) string {
		for _, name := range "abcdefgh" {
			body = "for " + string(name) + " in *; do " + body + "; done"
		}
		return body
	}
	for _, command := range []string{"ls */*/*/*/*/*/*/*/*", "make */*/*/*/*/*/*/*/*", rounds("time"), rounds("for x in; do ls; done")} {
		if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != "" {
			t.Errorf("%q: %+v", command, got)
		}
	}
}

// A command of many parts within each other does not end the program that judges it.
func TestThreat52DeepCommands(t *testing.T) {
	ws := lay(t, "a.txt")
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin", Rules: []Rule{{Kind: agent.KindShell, Prefix: "rm", Decision: event.Deny}}})
	for _, part := range []string{"$(", "if ", "a | "} {
		for _, size := range []int{maxParsed, 1 << 20} {
			command := strings.Repeat(part, size/len(part))
			act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}
			if got := p.Rule(t.Context(), act); got.Decision == event.Allow {
				t.Errorf("%d bytes of %q are not asked about", size, part)
			}
			p.Grants(act)
			Follow(command, ws)
		}
	}
}

// A repository, or its user, may name programs that git starts.
func TestThreat52GitStartsNothing(t *testing.T) {
	for name, config := range map[string]string{
		"fsmonitor": "[core]\n fsmonitor = ./x", "upper case": "[CORE]\n FSMonitor = ./x", "pager": "[core]\n pager = x", "command's pager": "[pager]\n log = x", "external": "[diff]\n external = x", "textconv": "[diff \"a\"]\n textconv = x",
		"filter": "[filter \"a\"]\n clean = x", "alias": "[alias]\n st = !x", "include": "[include]\n path = x", "includeIf": "[includeIf \"gitdir:/\"]\n path = x", "gpg": "[gpg]\n program = x", "hooks": "[core]\n hooksPath = x", "ssh": "[core]\n sshCommand = x", "another tree": "[core]\n worktree = /etc", "signatures": "[log]\n showSignature = true", "a format": "[format]\n pretty = %G?", "a file": "[blame]\n ignoreRevsFile = /etc/passwd", "mailmap": "[mailmap]\n file = x", "a partial clone": "[remote \"x\"]\n promisor = true\n uploadpack = x", "another": "[extensions]\n partialClone = x", "submodules": "[diff]\n submodule = diff", "a token": "[remote \"origin\"]\n url = https://me:secret@example.com/x",
	} {
		for where := range 3 {
			ws, home := readableWorkspace(t), t.TempDir()
			file := []string{filepath.Join(ws, ".git", "config"), filepath.Join(home, ".gitconfig"), filepath.Join(ws, ".git", "config.worktree")}[where]
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			p := New(Config{Workspace: ws, Home: home, Reading: true, Path: "/usr/bin"})
			for _, command := range []string{"git status", "go list ./..."} {
				if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != "" {
					t.Errorf("%s: %s in %s: %+v", command, name, file, got)
				}
			}
		}
	}
	for name, change := range map[string]func(ws string) error{
		"modules": func(ws string) error { return os.WriteFile(filepath.Join(ws, ".gitmodules"), nil, 0o600) },
		"a file": func(ws string) error {
			return errorsOf(os.RemoveAll(filepath.Join(ws, ".git")), os.WriteFile(filepath.Join(ws, ".git"), []byte("gitdir: /x"), 0o600))
		},
		"a link": func(ws string) error {
			return errorsOf(os.RemoveAll(filepath.Join(ws, ".git")), os.Symlink("/etc", filepath.Join(ws, ".git")))
		},
		"a configuration elsewhere": func(ws string) error {
			return os.WriteFile(filepath.Join(ws, ".git", "commondir"), []byte("../bare"), 0o600)
		},
		"objects elsewhere": func(ws string) error {
			return errorsOf(os.Mkdir(filepath.Join(ws, ".git", "objects", "info"), 0o700), os.WriteFile(filepath.Join(ws, ".git", "objects", "info", "alternates"), []byte("/x"), 0o600))
		},
		"linked objects": func(ws string) error { return os.Symlink("/etc", filepath.Join(ws, ".git", "objects", "ab")) },
		"linked names": func(ws string) error {
			return errorsOf(os.Remove(filepath.Join(ws, ".git", "refs")), os.Symlink("/etc", filepath.Join(ws, ".git", "refs")))
		},
		"a bare one without objects": func(ws string) error { return os.WriteFile(filepath.Join(ws, "HEAD"), nil, 0o600) },
		"half an index":              func(ws string) error { return os.WriteFile(filepath.Join(ws, ".git", "sharedindex.0"), nil, 0o600) },
		"a huge configuration":       func(ws string) error { return os.Truncate(filepath.Join(ws, ".git", "config"), 1<<40) },
		"an endless one": func(ws string) error {
			return errorsOf(os.Remove(filepath.Join(ws, ".git", "config")), os.Symlink("/dev/zero", filepath.Join(ws, ".git", "config")))
		},
		"another program's": func(ws string) error {
			return errorsOf(os.RemoveAll(filepath.Join(ws, ".git")), os.Mkdir(filepath.Join(ws, ".hg"), 0o700))
		},
		"none": func(ws string) error { return os.RemoveAll(filepath.Join(ws, ".git")) },
		"bare too": func(ws string) error {
			return errorsOf(os.WriteFile(filepath.Join(ws, "HEAD"), nil, 0o600), os.Mkdir(filepath.Join(ws, "objects"), 0o700))
		},
	} {
		ws := readableWorkspace(t)
		if err := change(ws); err != nil {
			t.Fatal(err)
		}
		p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
		for _, command := range []string{"git log", "go list -f '{{.Dir}}' ./..."} {
			want := event.Decision("")
			if strings.HasPrefix(command, "go") && name == "none" { // nothing is asked for its version
				want = event.Allow
			}
			if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != want {
				t.Errorf("%s: %s: %+v", name, command, got)
			}
		}
	}
}

// What git status asks of a repository that another one tracks, it asks by a git that obeys that
// one's configuration, also without .gitmodules.
func TestThreat52GitTracksARepository(t *testing.T) {
	ws, home := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir, c.Env = ws, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	status := func() event.Decision {
		p := New(Config{Workspace: ws, Home: home, Reading: true, Path: "/usr/bin"})
		return p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: "git status", Cwd: ws}).Decision
	}
	git("init", "-q", ".")
	if err := os.WriteFile(filepath.Join(ws, "a"), make([]byte, 0xe000), 0o600); err != nil { // a size that looks like the mode
		t.Fatal(err)
	}
	git("add", "a")
	if got := status(); got != event.Allow {
		t.Errorf("a repository of files: %q", got)
	}
	git("init", "-q", "inner")
	git("-C", "inner", "commit", "-q", "--allow-empty", "-m", "x")
	for _, version := range []string{"2", "4"} {
		git("add", "inner")
		git("update-index", "--index-version", version)
		if got := status(); got != "" {
			t.Errorf("a repository with another in its index, version %s: %q", version, got)
		}
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// Text that is written to one file is an edit of that file.
func TestWritingTextIsAnEdit(t *testing.T) {
	ws := readableWorkspace(t)
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	edit := p.Grants(agent.Permission{Kind: agent.KindWrite, Resource: "new.txt"})
	for command, want := range map[string]bool{
		"echo hello > new.txt": true, "printf 'a\\n' >> new.txt": true, "cat > new.txt << 'E'\nx\nE": true, "cat << E > ./new.txt\nx\nE": true, "ls; echo a > new.txt": true, "cd ./src && echo a > ../new.txt": true,
		"echo a > other.txt": false, "echo a > new.txt; cat *.txt": false, "echo a > new.txt > other.txt": false, "ls > new.txt": false, "cat a.txt > new.txt": false, "echo a > .vscode/tasks.json": false, "echo a > /etc/x": false, "echo a > .env": false, "echo $(ls) > new.txt": false, "echo a > new.txt; rm b.txt": false, "echo a > $x": false,
	} {
		act := agent.Permission{Kind: agent.KindShell, ToolName: "bash", Resource: command, Cwd: ws}
		if got := p.Rule(t.Context(), act); got.Decision != "" {
			t.Errorf("%q is not asked about", command)
		}
		got := p.Grants(act)
		if slices.ContainsFunc(got, func(g event.Grant) bool { return g.ID == edit[0].ID }) != want {
			t.Errorf("%q: %v", command, texts(got))
		}
	}
}

// hostileCommand returns one of many thousands, each by a way that has been used to pass a table
// like this one.
func hostileCommand(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	evil := pick("touch pwned", "rm a.txt", "sh src/main.go", "tee pwned", "./src/main.go", "cp a.txt pwned", "ln -s /etc x", "mkdir pwned", "chmod 777 a.txt", "dd of=pwned", "truncate -s0 a.txt", "git init x", "git add a.txt", "xargs rm", "bash", "eval ls")
	read := pick(onlyReading...)
	secret := pick("deploy.key", "sub/.env", "innocent", "/etc/passwd", "away/passwd", "../x", "~/.ssh/id_rsa", "./src/../deploy.key", "deploy.k*", "d?ploy.key", "$HOME/x")
	reader := pick("cat", "head -1", "tail -n 1", "wc -c", "nl", "sort", "uniq", "cut -c1", "diff a.txt", "cmp a.txt", "sed -n p", "grep x", "grep -n . a.txt", "jq .", "stat", "file", "sha256sum", "git blame", "git log --")
	return pick(
		read+" "+pick(";", "&&", "||", "|", "&", "|&", "\n")+" "+evil, evil+" "+pick(";", "&&", "||", "|", "\n")+" "+read, "("+read+"; "+evil+")", "{ "+evil+"; }", "! "+evil, "time "+evil,
		"if "+evil+"; then "+read+"; fi", "if true; then "+evil+"; fi", "while "+evil+"; do true; done", "for f in a b; do "+evil+"; done", "for f in "+secret+"; do cat $f; done",
		"echo "+pick("$(", "`", "\"$(", "<(", ">(", "${x:-$(")+evil+pick(")", "`", ")\"", ")", ")", ")}"), "cat << E\n$("+evil+")\nE", "cat <<< $("+evil+")", pick("env ", "command ", "exec ", "nohup ", "nice ", "timeout 1 ", "sudo ", "xargs ", "busybox ", "builtin ", "time -p sudo ", "X=1 ")+evil,
		reader+" "+secret, reader+" < "+secret, reader+" a.txt "+secret, "cat '"+pick("deploy.key", "/etc/passwd", "sub/.env")+"' a.txt", reader+" a.txt "+pick(">", ">>", ">|", "&>", "2>", "<>", ">&")+" pwned", "> pwned "+read, read+" > pwned",
		"sort "+pick("-o pwned", "-opwned", "--output pwned", "--output=pwned", "-uo pwned", "--compress-program=./src/main.go", "-T /etc")+" a.txt",
		"find . "+pick("-delete", "-exec rm {} +", "-exec sh -c id ;", "-execdir rm {} ;", "-ok rm {} ;", "-fprint pwned", "-fls pwned", "-fprintf pwned x", "-name a -delete", "-true -o -exec id ;"),
		"sed "+pick("-i p", "-n 'w pwned'", "'s/o/x/w pwned'", "'1e touch pwned'", "'s/./touch pwned/e'", "-n '1p;w pwned'", "-n -e p -e 'w pwned'", "-nf src/main.go", "-n '1,2!{w pwned\n}'", "-n '$!w pwned'", "--expression='w pwned'", "-n '1r /etc/passwd'", "-n '/x/{e\n}'", "'a\\'")+" a.txt",
		"git "+pick("-c core.pager='touch pwned' -p log", "-C .. status", "log --output=pwned", "diff --output=pwned", "diff --ext-diff", "show --textconv HEAD:a.txt", "--exec-path=. status", "branch pwned", "branch -f a b", "remote add a b", "diff --no-index a.txt /etc/passwd", "show HEAD:deploy.key", "log -p -- sub/.env", "grep -Osh x", "archive -o pwned HEAD", "bundle create pwned HEAD", "config core.pager x", "--namespace=x log", "stash", "worktree add x", "log --format='%G?'"),
		"go "+pick("run .", "test", "build -o pwned", "list -toolexec=./x ./...", "env -w A=b", "generate", "list -export ./...", "vet", "tool x", "install", "list -overlay x", "version -m /bin/ls", "doc -C /"),
		"cd "+pick("..", "/", "/etc", "./away", "~", "-", "src")+" "+pick("&&", ";", "||")+" "+pick("cat .env", "cat passwd", "git status", "cat ../deploy.key", "cat x", "ls | sh"),
		"cd ./sub "+pick("&&", ";")+" "+pick("cat .env", "cat ../deploy.key", "head .e*", "ls | sh"), "cd ./bare "+pick("&&", ";")+" git "+pick("status", "log", "diff"),
		"date "+pick("-s 1", "0101", "--set=1", "-f deploy.key", "-r /etc/passwd"), "tree "+pick("-o pwned", "-R -H . -L 1", "--output pwned", "-fo pwned"), "uniq a.txt pwned", "printf -v x y", "test -v 'x[$("+evil+")]'", "test 'x[$("+evil+")]' -eq 0", "rg "+pick("--pre ./x", "-z", "--hostname-bin ./x", "-f deploy.key", "--ignore-file deploy.key", "-uuu", "--hidden")+" x .",
		"ls *(e:'"+evil+"':)", "ls # \n"+evil, "echo 'a\\'' ; "+evil+" #'", "ls \\\n; "+evil, "ls\r"+evil, "f() { "+evil+"; }; f", "alias ls='"+evil+"'", "PATH=src ls", "trap '"+evil+"' EXIT", "coproc "+evil, "[[ -v 'x[$("+evil+")]' ]]", "((x[$("+evil+")]))", "case a in a) "+evil+";; esac", "select x in a; do "+evil+"; done", "$'to\\x75ch' pwned", "to\\uch pwned", "'touch' pwned", "\"touch\" pwned", "t''ouch pwned", "{touch,pwned}", "=touch pwned", "cat "+"file://"+secret,
	)
}

func TestThreat52HostileCommands(t *testing.T) {
	ws := readableWorkspace(t)
	p := New(Config{Workspace: ws, Home: t.TempDir(), Reading: true, Path: "/usr/bin:/bin"})
	r, tried := rand.New(rand.NewPCG(7, 7)), map[string]bool{}
	for len(tried) < 2000 {
		command := hostileCommand(r)
		if tried[command] {
			continue
		}
		tried[command] = true
		if got := p.Rule(t.Context(), agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: command, Cwd: ws}); got.Decision != "" {
			t.Errorf("%q is not asked about", command)
		}
	}
}

func BenchmarkJudgeCommand(b *testing.B) {
	ws := b.TempDir()
	p := New(Config{Workspace: ws, Reading: true, Path: "/usr/bin"})
	// Both are 10 KB: one of as many parts as are judged, and one of more than that.
	long, many := []string{"make"}, []string{}
	for i := range maxParts/2 - 1 {
		long = append(long, fmt.Sprintf("echo 'line %d of a long command' \"and what it does\" and why it does it %[1]d times in a row | head -n %[1]d", i))
	}
	for i := range 227 {
		many = append(many, fmt.Sprintf("echo 'line %d of a long command' | head -n %d", i, i))
	}
	for _, c := range []struct {
		name, command string
		want          event.Decision
	}{
		{"short", "cat main.go | head -50", event.Allow},
		{"10KB", strings.Join(long[1:], "\n"), event.Allow},
		{"10KB-asked", strings.Join(long, "\n"), ""},
		{"10KB-many", strings.Join(many, "\n"), ""},
	} {
		act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: c.command, Cwd: ws}
		if got := p.Rule(b.Context(), act).Decision; got != c.want {
			b.Fatalf("%s: %q, want %q", c.name, got, c.want)
		}
		b.Run(c.name, func(b *testing.B) {
			// A server that showed seven files of Go has 11 MB in use. Beside an empty heap, which no
			// server has, the garbage collector would run at each sixteenth command of 10 KB.
			inUse := make([]byte, 11<<20)
			defer runtime.KeepAlive(inUse)
			b.ReportMetric(float64(len(c.command)), "bytes")
			var all []time.Duration
			for b.Loop() {
				start := time.Now()
				p.Rule(b.Context(), act)
				all = append(all, time.Since(start))
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// What is allowed unasked is run in a real shell below strace: it changes no file, starts no program
// outside of the table, and opens nothing of the workspace's neighbours.
func TestReadingUnderStrace(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no strace here: apt-get install strace")
		}
		t.Skip("no strace here")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("this system does not let processes be traced: %s", out)
	}
	parent := t.TempDir()
	ws := filepath.Join(parent, "ws")
	if err := os.Rename(readableWorkspace(t), ws); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "neighbour"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, _ = filepath.EvalSymlinks(ws)
	p := New(Config{Workspace: ws, Home: parent, Reading: true, Path: "/usr/bin:/bin"})
	before := snapshot(t, ws)
	for _, command := range straced(p, t, ws) {
		trace := filepath.Join(t.TempDir(), "trace")
		c := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=execve,open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,connect", "bash", "-c", command)
		c.Dir, c.Env = ws, []string{"PATH=/usr/bin:/bin:/usr/local/go/bin", "HOME=" + parent, "GOFLAGS=-mod=mod"}
		_, _ = c.CombinedOutput() // many of them fail, which is fine
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if why := forbidden(line, parent, ws); why != "" {
				t.Errorf("%q: %s: %s", command, why, line)
			}
		}
	}
	if after := snapshot(t, ws); after != before {
		t.Errorf("files changed:\n%s\n%s", before, after)
	}
}

// straced are the commands that are run: those of the list that name no program the machine lacks,
// and joined ones, as far as they are allowed.
func straced(p *Policy, t *testing.T, ws string) (list []string) {
	slow := regexp.MustCompile(`\b(sleep|go|gofmt|while)\b`)
	joined := rand.New(rand.NewPCG(1, 1))
	for _, command := range onlyReading {
		other := onlyReading[joined.IntN(len(onlyReading))]
		for _, c := range []string{command, command + " | " + other} {
			act := agent.Permission{ToolName: "bash", Kind: agent.KindShell, Resource: c, Cwd: ws}
			if !slow.MatchString(c) && !strings.Contains(c, "\n") && p.Rule(t.Context(), act).Decision == event.Allow && len(list) < 150 {
				list = append(list, c)
			}
		}
	}
	return list
}

var (
	started = regexp.MustCompile(`execve\("([^"]+)".* = 0$`)
	opened  = regexp.MustCompile(`open(?:at)?\((?:AT_FDCWD, |\d+, )?"([^"]*)", ([A-Z_|0-9]+)`)
	changes = regexp.MustCompile(`\b(creat|unlink|unlinkat|rename|renameat|renameat2|mkdir|mkdirat|link|linkat|symlink|symlinkat|truncate|chmod|fchmodat|connect)\(.* = 0$`)
)

// forbidden says what is wrong with a call of the system; empty means nothing.
func forbidden(line, parent, ws string) string {
	if m := started.FindStringSubmatch(line); m != nil {
		if name := filepath.Base(m[1]); readers[name].takes == nothing && name != "bash" && name != "env" {
			return "a program outside of the table"
		}
	}
	if m := opened.FindStringSubmatch(line); m != nil {
		switch name, flags := m[1], m[2]; {
		case strings.Contains(name, ".git/index.lock"), name == "/dev/null", name == "/dev/tty": // git keeps what it saw of files
		case strings.Contains(flags, "O_WRONLY"), strings.Contains(flags, "O_RDWR"), strings.Contains(flags, "O_CREAT"):
			return "a file opened to write"
		case strings.HasPrefix(name, parent+"/") && name != parent+"/.gitconfig" && name != parent+"/.jq" && !strings.HasPrefix(name, parent+"/.config/") && !strings.HasPrefix(name, ws):
			return "a file beside the workspace"
		}
	}
	if changes.MatchString(line) && !strings.Contains(line, ".git/index") && !strings.Contains(line, "connect(") {
		return "a change"
	}
	return ""
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || strings.Contains(name, ".git/index") {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			fmt.Fprintf(&b, "%s %v %d %v\n", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
