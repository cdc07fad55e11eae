package looking_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"webchat/internal/looking"
	"webchat/internal/tokens"
)

// lines of a file of each program, as the real ones write them; what is not read is left out. A
// result is far more tokens than the next call grows by, so that the growth is what counts.
var (
	text = strings.Repeat("a line of the file\n", 200)
	// big is more than 4,000 tokens.
	big = func() string {
		var b strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&b, "func number%d() is not looked at again\n", i)
		}
		return b.String()
	}()
)

func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type o = map[string]any

// claude writes lines of Claude Code.
type claude struct{ n int }

func (c *claude) line(kind string, v o) string {
	all := o{"type": kind, "version": "2.1.316", "sessionId": "s1", "isSidechain": false,
		"timestamp": "2026-11-28T19:30:37.608Z"}
	for k, v := range v {
		all[k] = v
	}
	return object(all)
}

func (c *claude) prompt(text string) string {
	return c.line("user", o{"message": o{"role": "user", "content": text}})
}

// call is a call that took fresh, cached, written tokens (for five minutes, for an hour) and
// output.
func (c *claude) call(usage [5]int, parts ...o) string {
	c.n++
	return c.line("assistant", o{"requestId": "r", "message": o{"id": fmt.Sprint("m", c.n),
		"role": "assistant", "model": "claude-opus-4-5", "content": parts, "usage": o{
			"input_tokens": usage[0], "cache_read_input_tokens": usage[1],
			"cache_creation_input_tokens": usage[2] + usage[3], "output_tokens": usage[4],
			"cache_creation": o{"ephemeral_5m_input_tokens": usage[2],
				"ephemeral_1h_input_tokens": usage[3]},
		}}})
}

func says(text string) o { return o{"type": "text", "text": text} }

func uses(id, tool string, input o) o {
	return o{"type": "tool_use", "id": id, "name": tool, "input": input}
}

func (c *claude) result(id, text string) string {
	return c.line("user", o{"message": o{"role": "user",
		"content": []o{{"type": "tool_result", "tool_use_id": id, "content": text}}}})
}

// look is a turn that shows a file and says little: of the 100 tokens by which the second call
// grew, it is 125 where they were written to the cache.
func (c *claude) look() []string {
	return []string{c.prompt("show it"),
		c.call([5]int{1000, 0, 0, 0, 10}, uses("t1", "Read", o{"file_path": "/w/a.go"})),
		c.result("t1", text),
		c.call([5]int{0, 1000, 100, 0, 20}, says("Done.")), // 1000 × 0.1 + 100 × 1.25 + 20 × 5 = 325
	}
}

func codexLine(kind string, payload o) string {
	return object(o{"type": kind, "timestamp": "2026-11-28T19:30:45.145Z", "payload": payload})
}

func codexCall(records bool, total *[3]int, in, cached, out int, items ...o) (all []string) {
	for _, i := range items {
		all = append(all, codexLine("response_item", i))
	}
	u := func(a, b, c int) o {
		return o{"input_tokens": a, "cached_input_tokens": b, "output_tokens": c, "total_tokens": a + c}
	}
	total[0], total[1], total[2] = total[0]+in, total[1]+cached, total[2]+out
	count := codexLine("event_msg", o{"type": "token_count", "info": o{
		"total_token_usage": u(total[0], total[1], total[2]), "last_token_usage": u(in, cached, out)}})
	if records {
		all = append(all, codexLine("token_usage_record",
			o{"response_id": fmt.Sprint(*total), "usage": u(in, cached, out)}))
	}
	return append(all, count, count)
}

func codexSession(records bool) []string {
	var total [3]int
	all := []string{codexLine("session_meta", o{"id": "c1", "cli_version": "0.166.0"}),
		codexLine("turn_context", o{"model": "gpt-5"}),
		codexLine("event_msg", o{"type": "user_message", "message": "count"})}
	all = append(all, codexCall(records, &total, 1000, 0, 10,
		o{"type": "function_call", "name": "exec_command",
			"arguments": `{"cmd":"seq 3"}`, "call_id": "x1"})...) // 1000 + 10 × 8 = 1080
	all = append(all, codexLine("response_item", o{"type": "function_call_output", "call_id": "x1",
		"output": text}))
	all = append(all, codexCall(records, &total, 1200, 1000, 10,
		o{"type": "message", "role": "assistant",
			"content": []o{{"type": "output_text", "text": "Done."}}})...) // 200 + 100 + 80 = 380
	all = append(all, codexLine("event_msg", o{"type": "user_message", "message": "again"}))
	return append(all, codexCall(records, &total, 1300, 1200, 10,
		o{"type": "message", "role": "assistant",
			"content": []o{{"type": "output_text", "text": "Yes."}}})...) // 100 + 120 + 80 = 300
}

func copilotLine(kind string, data o) string {
	return object(o{"type": kind, "id": "e", "timestamp": "2026-11-28T18:42:42.734Z", "data": data})
}

func copilotCall(n, in, cached, written, out int, content string, requests ...o) []string {
	return []string{copilotLine("session.usage_record", o{"usage": o{"model": "claude-sonnet-4.5",
		"inputTokens": in, "outputTokens": out, "cacheReadTokens": cached, "cacheWriteTokens": written,
		"accounting": o{"sourceSessionId": "p1", "sequence": n}}}),
		copilotLine("assistant.message", o{"content": content, "toolRequests": requests})}
}

func copilotSession() []string {
	all := []string{copilotLine("session.start", o{"sessionId": "p1", "version": 1,
		"copilotVersion": "1.0.102"}),
		copilotLine("user.message", o{"content": "<b>list</b> it\x1b[2J"})}
	all = append(all, copilotCall(1, 1000, 0, 1000, 10, "", o{"toolCallId": "k1", "name": "bash",
		"arguments": o{"command": "ls"}})...) // 1250 + 50 = 1300
	all = append(all, copilotLine("tool.execution_complete",
		o{"toolCallId": "k1", "result": o{"content": text}}))
	all = append(all, copilotCall(2, 1400, 1000, 400, 10, "There it is.")...) // 100 + 500 + 50 = 650
	return append(all, copilotLine("session.compaction_complete", o{"success": true,
		"compactionTokensUsed": o{"model": "claude-sonnet-4.5", "inputTokens": 2000,
			"cacheReadTokens": 1400,
			"outputTokens":    10}})) // 600 + 140 + 50 = 790
}

// Each row is a home, and what its bill has to be in tokens of input.
func TestArithmetic(t *testing.T) {
	const aClaude, aCodex, aCopilot = ".claude/projects/-w/a.jsonl",
		".codex/sessions/2026/11/28/rollout-a.jsonl", ".copilot/session-state/p1/events.jsonl"
	c := &claude{}
	later := func(lines []string, more ...string) []string { return append(lines, more...) }
	// 110 + 100 + 50
	next := func() string { return c.call([5]int{0, 1100, 0, 50, 10}, says("Fine.")) }
	long := strings.Repeat("The answer says much of its own, word for word. ", 40)
	readBig := func(more ...string) []string {
		return append([]string{c.prompt("work"),
			c.call([5]int{1000, 0, 0, 0, 10}, uses("t1", "Read", o{"file_path": "/w/big.go"})),
			c.result("t1", big)}, more...)
	}
	edits := func(old string) string {
		return c.call([5]int{0, 1000, 10000, 0, 0}, uses("t2", "Edit",
			o{"file_path": "/w/other.go", "old_string": old}))
	}
	for name, test := range map[string]struct {
		files                         map[string][]string
		paid, commands, files2, large float64
		results                       int
		tokens                        int64
	}{
		"a file, read from the cache in the next turn": {
			files: map[string][]string{aClaude: later(c.look(), c.prompt("go on"), next())},
			paid:  1050 + 325 + 260, files2: 125 + 10, results: 1, tokens: 200,
		},
		"not after a compaction": {
			files: map[string][]string{aClaude: later(c.look(),
				c.line("system", o{"subtype": "compact_boundary"}), c.prompt("go on"), next())},
			paid: 1635, files2: 125, results: 1, tokens: 100,
		},
		"not cached again: the whole input is new": {
			files: map[string][]string{aClaude: later(c.look(), c.prompt("go on"),
				c.call([5]int{1200, 0, 0, 0, 0}, says("Fine.")))},
			paid: 1050 + 325 + 1200, files2: 125 + 100, results: 1, tokens: 200,
		},
		"cached in part": {
			files: map[string][]string{aClaude: later(c.look(), c.prompt("go on"),
				c.call([5]int{100, 1040, 60, 0, 0}, says("Fine.")))},
			// 40 of it at 0.1, 60 at (100 × 1 + 60 × 1.25) / 160
			paid: 1050 + 325 + 100 + 104 + 75, files2: 125 + 4 + 60*175.0/160, results: 1, tokens: 200,
		},
		"a long answer: the model needed it": {
			files: map[string][]string{aClaude: {c.prompt("explain"),
				c.call([5]int{1000, 0, 0, 0, 10}, uses("t1", "Read", o{})), c.result("t1", text),
				c.call([5]int{0, 1000, 100, 0, 20}, says(long))}},
			paid: 1050 + 325,
		},
		"only the last call of a turn": {
			files: map[string][]string{aClaude: {c.prompt("do"),
				c.call([5]int{1000, 0, 0, 0, 0}, uses("t1", "Bash", o{})), c.result("t1", text),
				c.call([5]int{0, 1000, 100, 0, 0}, uses("t2", "Bash", o{})), c.result("t2", text),
				c.call([5]int{0, 1100, 100, 0, 0}, says("Done."))}},
			paid: 1000 + 225 + 235, commands: 125, results: 1, tokens: 100,
		},
		"a tool that neither reads nor runs": {
			files: map[string][]string{aClaude: {c.prompt("do"),
				c.call([5]int{1000, 0, 0, 0, 0}, uses("t1", "Edit", o{})), c.result("t1", text),
				c.call([5]int{0, 1000, 100, 0, 0}, says("Done."))}},
			paid: 1225,
		},
		"no answer came": {
			files: map[string][]string{aClaude: {c.prompt("show"),
				c.call([5]int{1000, 0, 0, 0, 0}, uses("t1", "Read", o{})), c.result("t1", text),
				c.prompt("other"), c.call([5]int{0, 1000, 100, 0, 0}, says("Yes."))}},
			paid: 1225,
		},
		"the parts of a message are one call": {
			files: map[string][]string{aClaude: func() []string {
				all := c.look()
				return append(all[:2:2], append([]string{all[1]}, all[2:]...)...)
			}()},
			paid: 1375, files2: 125, results: 1, tokens: 100,
		},
		"what a resumed session copied is billed once": {
			files: func() map[string][]string {
				all := c.look()
				return map[string][]string{aClaude: all, ".claude/projects/-w/b.jsonl": all}
			}(),
			paid: 1375, files2: 125, results: 1, tokens: 100,
		},
		"a helper's answer is no look": {
			files: map[string][]string{".claude/projects/-w/s1/subagents/agent-1.jsonl": func() (
				all []string) {
				for _, l := range c.look() {
					all = append(all, strings.Replace(l, `"isSidechain":false`, `"isSidechain":true,"agentId":"h"`,
						1))
				}
				return all
			}()},
			paid: 1375,
		},
		"a large result that is not named again": {
			files: map[string][]string{aClaude: readBig(edits("something else of this length"),
				c.result("t2", "ok"),
				c.call([5]int{0, 11000, 100, 0, 0}, says(long)))},
			// 10,000 written, and then read
			paid: 1050 + 100 + 12500 + 1100 + 125, large: 12500 + 1000, results: 1, tokens: 20000,
		},
		"a large result of which a line is named": {
			files: map[string][]string{aClaude: readBig(edits("func number7() is not looked at again"),
				c.result("t2", "ok"),
				c.call([5]int{0, 11000, 100, 0, 0}, says(long)))},
			paid: 1050 + 100 + 12500 + 1100 + 125,
		},
		"a large result of which a line is named by its number": {
			files: map[string][]string{aClaude: readBig(edits("nothing of it at all"), c.result("t2", "ok"),
				c.call([5]int{0, 11000, 100, 0, 0}, says("See big.go:41. "+long)))},
			paid: 1050 + 100 + 12500 + 1100 + 125,
		},
		"a large result of which a piece is quoted": {
			files: map[string][]string{aClaude: readBig(edits("nothing of it at all"), c.result("t2", "ok"),
				c.call([5]int{0, 11000, 100, 0, 0}, says("It is `func number12()`. "+long)))},
			paid: 1050 + 100 + 12500 + 1100 + 125,
		},
		"Codex": {
			files: map[string][]string{aCodex: codexSession(true)},
			paid:  1080 + 380 + 300, commands: 200 + 20, results: 1, tokens: 400,
		},
		"Codex, before it kept records": {
			files: map[string][]string{aCodex: codexSession(false)},
			paid:  1080 + 380 + 300, commands: 200 + 20, results: 1, tokens: 400,
		},
		"Codex, forked": {
			files: map[string][]string{aCodex: codexSession(false),
				strings.Replace(aCodex, "-a", "-b", 1): func() []string {
					all := codexSession(false)
					all[0] = codexLine("session_meta", o{"id": "c2", "forked_from_id": "c1",
						"cli_version": "0.166.0"})
					return all
				}()},
			paid: 1080 + 380 + 300, commands: 200 + 20, results: 1, tokens: 400,
		},
		"Copilot CLI: the call that sums it up holds it, too": {
			files: map[string][]string{aCopilot: copilotSession()},
			paid:  1300 + 650 + 790, commands: 500 + 40, results: 1, tokens: 800,
		},
		"a model of an unknown provider": {
			files: map[string][]string{aClaude: func() (all []string) {
				for _, l := range c.look() {
					all = append(all, strings.Replace(l, "claude-opus-4-5", "own-model", 1))
				}
				return all
			}()},
			paid: 1010 + 1120, files2: 100, results: 1, tokens: 100,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := read(t, home(t, test.files), nil)
			got := []float64{b.Paid, b.Commands.Cost, b.Files.Cost, b.Large.Cost}
			for i, want := range []float64{test.paid, test.commands, test.files2, test.large} {
				if math.Abs(got[i]-want) > 1e-6 {
					t.Errorf("paid, commands, files, large: %v, want %v", got,
						[]float64{test.paid, test.commands, test.files2, test.large})
					break
				}
			}
			if n := b.Commands.Results + b.Files.Results + b.Large.Results; n != test.results ||
				b.Commands.Tokens+b.Files.Tokens+b.Large.Tokens != test.tokens {
				t.Errorf("%d results of %+v %+v %+v, want %d and %d tokens", n, b.Commands, b.Files, b.Large,
					test.results, test.tokens)
			}
			if want := (test.commands + test.files2 +
				test.large) / test.paid * 100; math.Abs(b.Share-want) > 1e-6 {
				t.Errorf("the share is %v, want %v", b.Share, want)
			}
		})
	}
}

// With prices for all models the bill is in dollars.
func TestDollars(t *testing.T) {
	c := &claude{}
	dir := home(t, map[string][]string{".claude/projects/-w/a.jsonl": append(c.look(),
		c.prompt("go on"),
		c.call([5]int{0, 1100, 0, 50, 10}, says("Fine.")))})
	b := read(t, dir, func(string) tokens.Prices {
		return tokens.Prices{Input: 3, Output: 15, Cached: 0.3}
	})
	if want := 1635 * 3 / 1e6; b.Unit != "dollars" || math.Abs(b.Paid-want) > 1e-9 ||
		math.Abs(b.Looking-135*3/1e6) > 1e-9 {
		t.Errorf("%s: %v of %v, want %v", b.Unit, b.Looking, b.Paid, want)
	}
	if got := b.Sentence(); got != "Looking was 8.3 % of your bill" {
		t.Error(got)
	}
}

// A share is printed as it is.
func TestSentence(t *testing.T) {
	for share, want := range map[float64]string{0: "0 %", 0.01: "less than 0.1 %", 0.4: "0.4 %",
		1:    "1 %",
		3.14: "3.1 %", 100: "100 %"} {
		if got := (&looking.Bill{Calls: 1, Share: share}).Sentence(); got != "Looking was "+want+
			" of your bill" {
			t.Errorf("%v: %s", share, got)
		}
	}
}

func home(t *testing.T, files map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, home string, prices func(string) tokens.Prices) *looking.Bill {
	t.Helper()
	b, err := looking.Read(t.Context(), looking.Config{Home: home, Prices: prices})
	if err != nil {
		t.Fatal(err)
	}
	return b
}
