package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"webchat/internal/canary/scripted"
)

// treeOf is what the workspace of a day holds, but for git's own: each path with its mode and
// bytes.
func (d *day) treeOf() map[string]string {
	d.t.Helper()
	tree := map[string]string{}
	err := filepath.WalkDir(d.workspace, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && e.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		st, err := e.Info()
		if err != nil {
			return err
		}
		var text []byte
		if st.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(at)
			if err != nil {
				return err
			}
			text = []byte(to)
		} else if text, err = os.ReadFile(at); err != nil {
			return err
		}
		tree[at[len(d.workspace)+1:]] = fmt.Sprint(st.Mode()&0o111 != 0, st.Mode().Type(), string(text))
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return tree
}

// is compares the workspace with a tree.
func (d *day) is(when string, want map[string]string) {
	d.t.Helper()
	got := d.treeOf()
	for name, text := range want {
		if got[name] != text {
			d.t.Errorf("%s: %s has %.80q, want %.80q", when, name, got[name], text)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			d.t.Errorf("%s: %s is there", when, name)
		}
	}
}

// killedIn kills the program so long after a request, and starts it again.
func (d *day) killedIn(after time.Duration, path, body string) {
	d.t.Helper()
	kill := time.AfterFunc(after, func() { _ = d.cmd.Process.Kill() })
	defer kill.Stop()
	r, err := http.NewRequest("POST", "http://"+d.address+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.token)
	r.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(r); err == nil { // else it was killed before it answered
		res.Body.Close()
	}
	_ = d.cmd.Wait() // it was killed
	again := exec.Command(d.cmd.Path)
	again.Env, again.Stderr = d.cmd.Env, d.cmd.Stderr
	d.cmd = again
	d.start(d.t)
}

// acts are what commands do in a day, in the folder of the agent's.
var acts = []string{
	"echo $RANDOM > ours/a.txt", "mkdir -p ours/deep/er && echo x > ours/deep/er/f.txt",
	"mv ours/a.txt ours/b.txt || true", "rm -rf ours/deep", "chmod +x ours/*.txt",
	"ln -sf b.txt ours/link",
	"head -c 5000 /dev/urandom > ours/bytes", "cp -r ours ours2 && mv ours2 ours/copy",
	"rm ours/link; mkdir ours/link; echo y > ours/link/z", "printf 'a\\r\\nb' > ours/crlf",
	"for i in $(seq 40); do echo $i > ours/gen$i.go; done", "rm ours/gen1*.go || true",
	"mkdir -p ours/many && seq 10000 | split -l 1 -a 4 - ours/many/f", "rm -rf ours/many",
}

// After a day of the real Copilot CLI's commands, going back to each prompt gives the files that
// were there, byte by byte, and taking it back those of now, while somebody else's work stays.
// Killed at any moment in between, it is done or not begun.
func TestSoakGoBackOverADay(t *testing.T) {
	if os.Getenv("WEBCHAT_SOAK") == "" {
		t.Skip("a long run: make soak")
	}
	seed, _ := strconv.ParseUint(os.Getenv("WEBCHAT_SOAK"), 10, 64) // any text is a seed
	r := rand.New(rand.NewPCG(seed, 55))
	d, model, _ := startDay(t, theCLI, "--sandbox", "off", "--permissions", "allow")
	theirs := map[string]string{}
	var trees []map[string]string
	for i := range 30 {
		trees = append(trees, d.treeOf())
		command := "mkdir -p ours; " + acts[(i+r.IntN(3))%len(acts)]
		args, err := json.Marshal(map[string]any{"command": command, "description": "work"})
		if err != nil {
			t.Fatal(err)
		}
		model.Play(scripted.Step{Tool: "bash", Arguments: string(args)})
		d.errand()
		if r.IntN(4) == 0 { // somebody else works, too
			name := fmt.Sprintf("theirs%d.txt", r.IntN(5))
			if err := os.WriteFile(filepath.Join(d.workspace, name), []byte(fmt.Sprint(i)),
				0o644); err != nil {
				t.Fatal(err)
			}
			theirs[name] = fmt.Sprint(false, fs.FileMode(0), fmt.Sprint(i))
		}
	}
	now := d.treeOf()
	var list struct {
		Events []struct {
			Type string
			Data struct{ MessageID string }
		}
	}
	d.request(t, "GET", d.path+"/events?limit=5000", "", &list)
	var prompts []string
	for _, e := range list.Events {
		if e.Type == "user.message" {
			prompts = append(prompts, e.Data.MessageID)
		}
	}
	if len(prompts) != len(trees) {
		t.Fatalf("%d prompts, %d trees", len(prompts), len(trees))
	}
	then := func(i int) map[string]string {
		want := maps.Clone(trees[i])
		maps.Copy(want, theirs)
		return want
	}
	body := func(i int) string { return fmt.Sprintf(`{"messageId":%q,"files":true}`, prompts[i]) }
	began := time.Now()
	for i := range prompts {
		var answer json.RawMessage
		if status := d.request(t, "POST", d.path+"/rewind", body(i), &answer); status != 200 {
			t.Fatalf("back to prompt %d: %d %s", i, status, answer)
		}
		d.is(fmt.Sprint("before prompt ", i), then(i))
		if status := d.request(t, "POST", d.path+"/rewind/undo", "{}", nil); status != 200 {
			t.Fatalf("taking back prompt %d: %d", i, status)
		}
		d.is(fmt.Sprint("taken back ", i), now)
	}
	done, twice := 0, time.Since(began).Milliseconds()/int64(len(prompts)) // what going back takes
	for range 8 {
		i := r.IntN(len(prompts))
		d.killedIn(time.Duration(r.Int64N(twice))*time.Millisecond, d.path+"/rewind", body(i))
		d.request(t, "GET", d.path, "", nil) // it is settled when the session opens
		if got := d.treeOf(); maps.Equal(got, now) {
			continue
		}
		done++
		d.is("killed", then(i))
		if status := d.request(t, "POST", d.path+"/rewind/undo", "{}", nil); status != 200 {
			t.Fatalf("taking back after a kill: %d", status)
		}
		d.is("taken back after a kill", now)
	}
	t.Logf("soak: went back to %d prompts and forth; killed 8 times, %d of them done", len(prompts),
		done)
}
