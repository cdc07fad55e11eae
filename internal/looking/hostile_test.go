package looking_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What is in these files was written by others: lines of 64 MiB, and text that would be HTML or
// move the cursor of a terminal.
func TestHostileFiles(t *testing.T) {
	c := &claude{}
	lines := append(c.look(), "not json", `{"type":"user","version":"2.1","message":5}`,
		strings.Repeat("[", 20_000))
	lines[0] = c.prompt("<script>alert(1)</script>\x1b]0;owned\x07\u202e")
	dir := home(t, map[string][]string{
		".claude/projects/-w/a.jsonl": lines,
		".claude/projects/-w/future.jsonl": {strings.Replace(c.prompt("x"), "2.1.316", "3.<b>0",
			1)},
		".claude/projects/-w/none.jsonl":    {`{"type":"user","sessionId":"s2","message":{"content":"x"}}`},
		".codex/sessions/rollout-old.jsonl": {`{"id":"x","timestamp":"2025-04-01T00:00:00Z","instructions":null}`},
		".copilot/session-state/p2/events.jsonl": {copilotLine("session.start",
			o{"sessionId": "p2", "version": 2})},
		".copilot/session-state/p3/events.jsonl": {copilotLine("session.start",
			o{"sessionId": "p3", "version": 1}),
			copilotLine("assistant.message", o{"content": "hi"})},
		"elsewhere/secret.jsonl": c.look(),
	})
	for name, to := range map[string]string{
		".claude/projects/-w/link.jsonl": "../../../elsewhere/secret.jsonl",
		".claude/projects/out":           "../../elsewhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	b := read(t, dir, nil)
	if b.Calls != 2 || b.Files.Results != 1 || b.Sources[0].Lines != 3 {
		t.Errorf("%d calls, %d files shown, %d bad lines", b.Calls, b.Files.Results, b.Sources[0].Lines)
	}
	var text, page bytes.Buffer
	if err := b.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := b.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"their version 3.<b>0 is not known", "1 file: links",
		"1 file: no version is named in them", "1 file: they begin as those of no known version",
		"their version 2 is not known", "1 file: they do not say what a call of the model took",
		"3 lines",
		"Looking was ", "~/.claude/projects: 1 file", "Nothing was sent."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, bad := range []string{"\x1b", "\x07", "\u202e"} {
		if strings.Contains(text.String()+page.String(), bad) {
			t.Errorf("%q is written as it came", bad)
		}
	}
	for _, bad := range []string{"<script", "3.<b>", "ZgotmplZ"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	if !strings.Contains(page.String(), "&lt;script&gt;alert(1)") {
		t.Errorf("the page has not the title of the session:\n%s", page.String())
	}
}

// A line of 64 MiB is read in the memory of a short one: one string of it, or very many.
func TestLongLines(t *testing.T) {
	c := &claude{}
	const size = 64 << 20
	dir := home(t, map[string][]string{".claude/projects/-w/a.jsonl": c.look()})
	f, err := os.OpenFile(filepath.Join(dir, ".claude/projects/-w/a.jsonl"), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := c.look()
	head, tail, _ := strings.Cut(all[2], "a line of the file")
	write := func(s string) {
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	many := func(s string) {
		for range size / (1 << 20) {
			write(strings.Repeat(s, (1<<20)/len(s)))
		}
	}
	write(all[0] + "\n" + all[1] + "\n" + head)
	many(`\"a line of the file, as long as many are; lö \u00e4\n`)
	write(tail + "\n" + all[3] + "\n[")
	many(`"a",[`)
	write("\n" + c.prompt("go on") + "\n")

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := read(t, dir, nil)
	runtime.ReadMemStats(&after)
	if grew := after.TotalAlloc - before.TotalAlloc; grew > size {
		t.Errorf("%d MiB were allocated", grew>>20)
	}
	if b.Calls != 2 || b.Files.Results != 1 || b.Files.Tokens != 100 || b.Sources[0].Lines != 1 {
		t.Errorf("%d calls, %+v, %d bad lines", b.Calls, b.Files, b.Sources[0].Lines)
	}
}

// Without sessions there is a sentence, and a page.
func TestNothingThere(t *testing.T) {
	b := read(t, t.TempDir(), nil)
	var page bytes.Buffer
	if err := b.WritePage(&page); err != nil ||
		b.Sentence() != "No session was found in which a model was called" {
		t.Errorf("%s, %v", b.Sentence(), err)
	}
}

// Whatever a file holds, no more than the bill was looking.
func FuzzFiles(f *testing.F) {
	c := &claude{}
	for i, lines := range [][]string{c.look(), codexSession(true), codexSession(false),
		copilotSession()} {
		f.Add(uint8(min(i, 2)), []byte(strings.Join(lines, "\n")))
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		name := []string{".claude/projects/-w/a.jsonl", ".codex/sessions/rollout-a.jsonl",
			".copilot/session-state/p1/events.jsonl"}[which%3]
		b := read(t, home(t, map[string][]string{name: {string(text)}}), nil)
		if b.Looking < 0 || b.Looking > b.Paid*(1+1e-9) {
			t.Errorf("%v of %v was looking", b.Looking, b.Paid)
		}
	})
}
