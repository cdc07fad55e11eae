package cage

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"webchat/internal/proc"
)

// tools are what people and agents run, as they print the same confined as not.
var tools = []struct {
	program string // what has to be installed
	script  string
	long    bool // make soak only
}{
	{"git", `export GIT_AUTHOR_DATE=2026-01-01T00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00Z GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
		git status --short; echo 1 >a; git add -A; git commit -qm 1; git checkout -qb two; echo 2 >>a; git stash -q; git stash pop -q; git diff --stat
		git commit -qam 2; git checkout -q -; git merge -q two; git gc -q; git log --oneline; git mv a b; git commit -qm 3; git rebase -q HEAD~1; git status --short
		git init -q sub/new; git clone -q . sub/clone; git -C sub/clone log --oneline; git worktree add -q sub/tree; git -C sub/tree log --oneline -1
		cd sub/new; git -c protocol.file.allow=always submodule -q add ../clone mod 2>&1; git submodule status; git commit -qm 4; git -C mod commit -q --allow-empty -m 5; git -C mod log --oneline -1
		git -c protocol.file.allow=always clone -q --recurse-submodules . ../again; git -C ../again submodule status`, false},
	{"go", `mkdir m; cd m; printf 'module m\ngo 1.24\n' >go.mod; printf 'package m\nfunc F() int { return 1 }\n' >m.go
		printf 'package m\nimport "testing"\nfunc TestF(t *testing.T) { if F() != 1 { t.Fatal() } }\n' >m_test.go
		gofmt -l .; go vet . && go build . && go test . | cut -f1,2`, true},
	{"python3", `python3 -c 'import http.server, threading, urllib.request, sqlite3, multiprocessing
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=s.serve_forever, daemon=True).start()
print(urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status)
sqlite3.connect("x.db").execute("create table t (a)")
p = multiprocessing.Pool(2); print(p.map(abs, [-1, -2]))' 2>/dev/null`, false},
	{"pytest-3",
		`printf 'import subprocess, pathlib\ndef test_a(tmp_path):\n    (tmp_path / "a").write_text("x")\n    assert subprocess.check_output(["cat", str(tmp_path / "a")]) == b"x"\ndef test_b():\n    assert 1 == 2\n' >test_x.py
		pytest-3 -q test_x.py | sed 's/ in [0-9.]*s//'; ls -A .pytest_cache | sort`, false},
	{"node", `echo 'const c = require("child_process"); console.log(c.execSync("echo hi").toString(), require("os").tmpdir().length > 0)' >n.js; node n.js`, true},
	{"npm", `echo '{"name":"x","version":"1.0.0","scripts":{"test":"echo tested"}}' >package.json; npm test --silent; npm install --offline --no-audit --no-fund 2>&1 | tail -1 | sed 's| in .*||'`, true},
	{"make", `printf 'all: x\n\t@cat x\nx:\n\t@echo made >x\n' >Makefile; make; make -j2`, false},
	{"cc", `echo 'int main(void) { return 7; }' >c.c; cc c.c -o c && ./c; echo $?`, true},
	{"script", `script -qec 'test -t 1 && echo terminal' /dev/null`, false},
	{"tar", `mkdir t; echo 1 >t/a; tar czf t.tgz t; rm -r t; tar xzf t.tgz; cat t/a; mkfifo f; (echo 2 >f &); cat f; mktemp -d | cut -c1-5; sort <<<"$(printf 'b\na\n')"; ps -o comm= -p $$`, false},
}

// A command comes to the same, confined or not.
func TestInsideAsOutside(t *testing.T) { insideAsOutside(t, false) }

func TestSoakInsideAsOutside(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	insideAsOutside(t, true)
}

func insideAsOutside(t *testing.T, long bool) {
	for _, tool := range tools {
		if tool.long != long {
			continue
		}
		t.Run(tool.program, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tool.program); err != nil {
				if os.Getenv("CI") != "" {
					t.Fatal("not installed: run scripts/setup.sh")
				}
				t.Skip("not installed")
			}
			var said [2]string
			for i := range said {
				y := newYard(t)
				if tool.program == "go" { // its own cache is warm, and takes writes as an overlay
					out, err := exec.Command("go", "env", "GOCACHE").Output()
					if err != nil {
						t.Skip(err)
					}
					y.Env = append(y.Env, "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOCACHE="+
						strings.TrimSpace(string(out)))
				}
				y.outside(
					"git init -q .; git config user.name a; git config user.email a@b; echo A=1 >.env; echo " +
						".env >.git/info/exclude")
				if i == 0 {
					said[i] = y.outside(tool.script)
				} else {
					said[i] = y.run(tool.script, Needs{})
				}
				said[i] = strings.ReplaceAll(said[i], y.work, "WORK")
			}
			if said[0] != said[1] || said[0] == "" {
				t.Errorf("outside:\n%s\ninside:\n%s", said[0], said[1])
			}
		})
	}
}

// go vet with what was built before, in the time it takes when it is not confined.
func BenchmarkConfinedVet(b *testing.B) {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		b.Skip(err)
	}
	y := newYard(b)
	y.Env = append(y.Env, "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOCACHE="+
		strings.TrimSpace(string(out)))
	y.write("code/proj/go.mod", "module m\ngo 1.24\n")
	y.write("code/proj/m.go", "package m\n\nimport \"net/http\"\n\nvar C http.Client\n")
	c, err := New(y.Config)
	if err != nil {
		b.Fatal(err)
	}
	y.outside("go vet .")
	var took [2][]time.Duration
	for b.Loop() {
		for i := range took {
			began := time.Now()
			cmd := proc.Command{Args: []string{"go", "vet", "."}, Dir: y.work, Env: y.Env}
			if i == 1 {
				if cmd, err = c.Confine(context.Background(), cmd, Needs{}); err != nil {
					b.Fatal(err)
				}
			}
			if exit, err := proc.Run(context.Background(), cmd); err != nil || exit.Code != 0 {
				b.Fatal(exit, err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	b.ReportMetric(float64(took[1][len(took[1])/2])/float64(took[0][len(took[0])/2]), "ratio")
}

// What it takes to decide what a tree gets, in a folder of some thousand files.
func BenchmarkSpec(b *testing.B) {
	y := newYard(b)
	for _, dir := range strings.Fields("a b c d e f g h i j") {
		for _, sub := range strings.Fields("1 2 3 4 5 6 7 8 9 10") {
			for _, name := range strings.Fields("m.go n.go o.go p.go q.go r.go s.go t.go u.go v.go") {
				y.write("code/proj/"+dir+"/"+sub+"/"+name, "x")
			}
		}
	}
	for i := range 256 { // the cache of somebody who builds
		for j := range 100 {
			y.write(fmt.Sprintf(".cache/go-build/%02x/%02x%062d-d", i, i, j), "")
		}
	}
	c, err := New(y.Config)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd, err := c.Confine(context.Background(), proc.Command{}, Needs{})
		if err != nil {
			b.Fatal(err)
		}
		cmd.Confine.Ended()
	}
}
