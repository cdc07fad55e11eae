package acp_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/acp"
	"webchat/internal/agent/agenttest"
	"webchat/internal/event"
)

// frames are a recorded agent's notifications and requests; $W is the workspace.
type frames struct {
	Before []json.RawMessage `json:"before,omitempty"`
	Ask    []json.RawMessage `json:"ask,omitempty"`
	Write  string            `json:"write,omitempty"`
	After  []json.RawMessage `json:"after,omitempty"`
}

func (h *table) play(f frames) {
	h.t.Helper()
	b, err := json.Marshal(f)
	if err == nil {
		err = h.prompt(h.t.Context(), "frames "+strings.ReplaceAll(string(b), "$W", h.dir))
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// about is a permission in one line, less the workspace.
func (h *table) about(p agent.Permission) string {
	var all []string
	for _, part := range p.Parts() {
		line := fmt.Sprintf("%s %s: %s", part.Kind, part.Action, part.Resource)
		if s := part.Search; s != nil {
			line += fmt.Sprintf(" for %q in %q, glob %q, names %v", s.Pattern, s.Path, s.Glob, s.Names)
		}
		all = append(all, line)
	}
	text := strings.Join(all, " + ")
	if p.Sensitive {
		text += " (sensitive)"
	}
	return strings.ReplaceAll(text, h.dir, "$W")
}

func asks(toolCall string) json.RawMessage {
	return json.RawMessage(`{"toolCall":{"toolCallId":"c1","status":"pending",` + toolCall + `}}`)
}

// THREATS 53: everything that a call names is what is asked about, in the forms that were
// recorded; what is missing, unreadable or torn is asked each time, and a title decides nothing.
func TestThreat53EveryPathOfACall(t *testing.T) {
	const diff = `"content":[{"type":"diff","path":"$W/a.txt","oldText":"","newText":"x"}]`
	const two = `"content":[{"type":"diff","path":"$W/a.txt","oldText":"","newText":"x"},{"type":"diff","path":"/out/b.txt","oldText":null,"newText":"x"}]`
	h := sit(t, "polite", nil, nil)
	for name, c := range map[string]struct{ call, want string }{
		// As they were recorded.
		"claude bash":  {`"kind":"execute","name":"Bash","title":"ls","rawInput":{"command":"ls","description":"run it"},"locations":[{"path":"$W/ran1"}]`, "shell run a command: ls"},
		"claude write": {`"kind":"edit","name":"Write","title":"Write a.txt","rawInput":{"file_path":"$W/a.txt","content":"x"},"locations":[{"path":"$W/a.txt"}],` + diff, "write edit a file: $W/a.txt"},
		"codex command": {`"kind":"execute","title":"ls","rawInput":{"command":"ls","cwd":"$W"}`,
			"shell run a command: ls"},
		"codex patch":     {`"kind":"edit","title":"Edit files","locations":[{"path":"$W/a.txt"},{"path":"/out/b.txt"}],` + two, "write edit a file: $W/a.txt + write edit a file: /out/b.txt"},
		"copilot command": {`"kind":"execute","title":"run it","rawInput":{"command":"touch ran2; rm -f x2","commands":["touch ran2; rm -f x2"]}`, "shell run a command: touch ran2; rm -f x2"},
		"copilot create":  {`"kind":"edit","title":"Create file","locations":[{"path":"/out/new.txt"}],"rawInput":{"fileName":"/out/new.txt","diff":"\ndiff --git a/out/new.txt b/out/new.txt\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/out/new.txt\n@@ -1,0 +1,1 @@\n+hello\n"}`, "write edit a file: /out/new.txt"},
		"gemini command":  {`"kind":"execute","title":"echo out","locations":[],"content":[{"type":"content","content":{"type":"text","text":"[in $W] (run it)"}}]`, "shell run a command: echo out\n[in $W] (run it) (sensitive)"},
		"gemini write":    {`"kind":"edit","title":"Writing to a.txt","locations":[{"path":"$W/a.txt"}],` + diff, "write edit a file: $W/a.txt"},
		"opencode write":  {`"kind":"edit","title":"$W/a.txt","locations":[{"path":"$W/a.txt"}],"rawInput":{"filepath":"$W/a.txt","diff":"Index: $W/a.txt\n===\n--- $W/a.txt\n+++ $W/a.txt\n@@ -0,0 +1,1 @@\n+hello\n"},` + diff, "write edit a file: $W/a.txt"},
		// One of several paths is elsewhere, wherever it stands.
		"another location": {`"kind":"edit","locations":[{"path":"$W/a.txt"},{"path":"/out/b.txt"}],` +
			diff, "write edit a file: $W/a.txt + write edit a file: /out/b.txt (sensitive)"},
		"another diff": {`"kind":"edit","locations":[{"path":"$W/a.txt"}],` + two,
			"write edit a file: $W/a.txt + write edit a file: /out/b.txt (sensitive)"},
		"another input":   {`"kind":"edit","locations":[{"path":"$W/a.txt"}],"rawInput":{"path":"$W/a.txt","edits":[{"file_path":"/out/b.txt"}]},` + diff, "write edit a file: $W/a.txt + write edit a file: /out/b.txt"},
		"another changed": {`"kind":"edit","locations":[{"path":"a.txt"}],"rawInput":{"changes":{"a.txt":{"type":"update"},"/out/b.txt":{"type":"add","move_path":"/out/c.txt"}}}`, "write edit a file: a.txt + write edit a file: /out/b.txt + write edit a file: /out/c.txt"},
		"another patched": {`"kind":"edit","locations":[{"path":"a.txt"}],"rawInput":{"input":"*** Begin Patch\n*** Update File: a.txt\n*** Move to: /out/b.txt\n@@\n-x\n+y\n*** Delete File: .env\n*** End Patch"}`, "write edit a file: a.txt + write edit a file: /out/b.txt + write edit a file: .env"},
		"another in a " +
			"diff": {`"kind":"edit","locations":[{"path":"$W/a.txt"}],"rawInput":{"path":"$W/a.txt","diff":"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\ndiff --git a/.env b/.env\ndeleted file mode 100644\n"}`, "write edit a file: $W/a.txt + write edit a file: .env (sensitive)"},
		"a move":            {`"kind":"move","locations":[{"path":"$W/a.txt"}],"rawInput":{"source":"$W/a.txt","destination":"/out/b.txt"}`, "write move a file: $W/a.txt + write move a file: /out/b.txt"},
		"a read of several": {`"kind":"read","rawInput":{"paths":["a.txt","/out/b.txt"],"dir_path":".","absolute_path":"/out/c.txt"}`, "read read: /out/c.txt + read read: . + read read: a.txt + read read: /out/b.txt"},
		"the same, by " +
			"names": {`"kind":"edit","locations":[{"path":"$W/sub/../a.txt"}],"rawInput":{"path":"a.txt"},` +
			diff, "write edit a file: $W/a.txt"},
		// What is missing, unreadable or torn.
		"no location": {`"kind":"edit","title":"$W/a.txt","rawInput":{"path":"$W/a.txt"}`,
			"write edit a file: $W/a.txt (sensitive)"},
		"no change": {`"kind":"edit","locations":[{"path":"$W/a.txt"}]`,
			"write edit a file: $W/a.txt (sensitive)"},
		"a title only":    {`"kind":"edit","title":"a.txt"`, "write edit a file: a.txt (sensitive)"},
		"a title to read": {`"kind":"read","title":"a.txt"`, "read read: a.txt (sensitive)"},
		"a title to open": {`"kind":"fetch","title":"https://example.com"`,
			"url open an address: https://example.com (sensitive)"},
		"a title to run": {`"kind":"execute","title":"ls"`, "shell run a command: ls (sensitive)"},
		"torn":           {`"kind":"edit","locations":[{"path":"$W/a.txt"}],"rawInput":{"path":"/out/b.txt"},` + diff, "write edit a file: $W/a.txt + write edit a file: /out/b.txt (sensitive)"},
		"a read that changes": {`"kind":"read","rawInput":{"path":"$W/a.txt"},` + diff,
			"write edit a file: $W/a.txt (sensitive)"},
		"no object": {`"kind":"read","rawInput":"a.txt","locations":[{"path":"a.txt"}]`,
			"read read: a.txt (sensitive)"},
		"a number": {`"kind":"read","rawInput":{"path":"a.txt","file":7}`,
			"read read: a.txt (sensitive)"},
		"a path in a map": {`"kind":"read","rawInput":{"path":"a.txt","file":{"name":"/out/b.txt"}}`,
			"read read: a.txt (sensitive)"},
		"paths in a map": {`"kind":"edit","locations":[{"path":"a.txt"}],"rawInput":{"path":"a.txt","files":{"/out/b.txt":"x"}}`, "write edit a file: a.txt (sensitive)"},
		"a list beside a path": {`"kind":"read","rawInput":{"path":"a.txt","entries":["b.txt"]}`,
			"read read: a.txt (sensitive)"},
		"a list in a map": {`"kind":"edit","locations":[{"path":"a.txt"}],"rawInput":{"path":"a.txt","more":{"items":[["/out/b.txt"]]}},` + diff, "write edit a file: $W/a.txt (sensitive)"},
		"globs of a read": {`"kind":"read","rawInput":{"paths":["a.txt"],"include":["**/.env"]}`,
			"read read: a.txt (sensitive)"},
		"a list of edits": {`"kind":"edit","locations":[{"path":"$W/a.txt"}],"rawInput":{"path":"$W/a.txt","range":[1,2],"edits":[{"old_string":"/x","new_string":"y"}]},` + diff, "write edit a file: $W/a.txt"},
		"a search that " +
			"skips": {`"kind":"search","rawInput":{"pattern":"x","path":"sub","exclude":["*.min.js"]}`,
			`read search: sub for "x" in "sub", glob "", names false`},
		"an unreadable " +
			"path": {`"kind":"edit","locations":[{"path":"a.txt"}],"rawInput":{"paths":["a.txt","file:///out/b.txt","/out\u0000c"]}`, "write edit a file: a.txt + write edit a file: file:///out/b.txt + write edit a file: /out\x00c (sensitive)"},
		"an empty path": {`"kind":"edit","locations":[{"path":"a.txt"},{"path":""}],"rawInput":{"path":"a.txt"}`, "write edit a file: a.txt (sensitive)"},
		"a line only": {`"kind":"edit","locations":[{"line":7}],"rawInput":{"path":"a.txt"}`,
			"write edit a file: a.txt (sensitive)"},
		"a tool, empty " +
			"path": {`"kind":"other","name":"save","rawInput":{"x":1},"locations":[{"path":""}]`,
			`mcp use a tool: save {"x":1} (sensitive)`},
		"deep": {`"kind":"read","rawInput":{"path":"a.txt","x":` +
			strings.Repeat("[", 9990) + strings.Repeat("]", 9990) + `}`, "read read: a.txt"},
		"two of a name": {`"kind":"read","rawInput":{"file_path":"a.txt","filePath":"/out/b.txt"}`,
			"read read: /out/b.txt + read read: a.txt (sensitive)"},
		// Commands, whatever the kind, and whole.
		"a read with a " +
			"command": {`"kind":"read","rawInput":{"path":"a.txt","command":"rm a.txt","cwd":"$W"}`,
			"shell run a command: rm a.txt + read read: a.txt"},
		"an edit with a " +
			"command": {`"kind":"edit","locations":[{"path":"/out/b.txt"}],"rawInput":{"command":"write","path":"/out/b.txt","file_text":"x"}`, "shell run a command: write + write edit a file: /out/b.txt"},
		"a command that changes": {`"kind":"execute","rawInput":{"command":"ls"},` + two,
			"shell run a command: ls + write edit a file: $W/a.txt + write edit a file: /out/b.txt " +
				"(sensitive)"},
		"a tool with a command": {`"kind":"other","name":"Shell","rawInput":{"command":"rm b"}`,
			`mcp use a tool: Shell {"command":"rm b"} + shell run a command: rm b`},
		"a tool with a path": {`"kind":"think","name":"Save","rawInput":{"path":"/out/b.txt"}`,
			`mcp use a tool: Save {"path":"/out/b.txt"} + write use a file: /out/b.txt`},
		"a search with a command": {`"kind":"search","rawInput":{"pattern":"x","cmd":["rg","x; y"]}`,
			"shell run a command: rg 'x; y'"},
		"a fetch with a " +
			"command": {`"kind":"fetch","rawInput":{"url":"https://example.com","script":"curl x"}`,
			"shell run a command: curl x + url open an address: https://example.com"},
		"a list": {`"kind":"execute","title":"echo","rawInput":{"command":["bash","-lc","echo 'a'; rm b"]}`, `shell run a command: bash -lc 'echo '\''a'\''; rm b'`},
		"words after it": {`"kind":"execute","rawInput":{"command":"rm","args":["-r","b c"]}`,
			"shell run a command: rm -r 'b c'"},
		"two commands": {`"kind":"execute","rawInput":{"command":"ls","script":"rm b"}`,
			"shell run a command: ls\nrm b (sensitive)"},
		"two folders": {`"kind":"execute","rawInput":{"command":"ls","cwd":"$W","workdir":"/out"}`,
			"shell run a command: ls (sensitive)"},
		// Searches and addresses.
		"a search": {`"kind":"search","name":"Grep","rawInput":{"pattern":"/x","path":"sub","glob":"*.go"}`, `read search: sub for "/x" in "sub", glob "*.go", names false`},
		"a search by text": {`"kind":"search","name":"Grep","rawInput":{"pattern":"/x","path":"sub"}`,
			`read search: sub for "/x" in "sub", glob "", names false`},
		"a search to " +
			"change": {`"kind":"search","name":"Grep","rawInput":{"pattern":"x","path":"$W/a.txt"},` + diff,
			"write edit a file: $W/a.txt (sensitive)"},
		"a search of all": {`"kind":"search","name":"Glob","rawInput":{"pattern":"**/*.go"}`,
			`read search: $W for "**/*.go" in "$W", glob "", names true`},
		"a search of two": {`"kind":"search","rawInput":{"query":"x","paths":["a","/out"]}`,
			`read search: a for "x" in "a", glob "", names false + read search: /out for "x" in "/out", glob "", names false`},
		"a search elsewhere": {`"kind":"search","name":"Glob","rawInput":{"pattern":"/out/*"}`,
			`read search: $W for "/out/*" in "$W", glob "", names true (sensitive)`},
		"a search in braces": {`"kind":"search","name":"Glob","rawInput":{"pattern":"{*.go,/out/*}"}`,
			`read search: $W for "{*.go,/out/*}" in "$W", glob "", names true (sensitive)`},
		"a search by " +
			"address": {`"kind":"search","name":"Grep","rawInput":{"pattern":"x","path":"file://$W"}`,
			`read search: file://$W for "x" in "file://$W", glob "", names false (sensitive)`},
		"a search unsaid": {`"kind":"search","title":"x","rawInput":{"path":"sub"}`,
			`read search: sub for "" in "sub", glob "", names false (sensitive)`},
		"a glob elsewhere": {`"kind":"search","name":"Grep","rawInput":{"pattern":"x","path":"sub","glob":"/out/*"}`, `read search: sub for "x" in "sub", glob "/out/*", names false (sensitive)`},
		"a fetch to change": {`"kind":"fetch","rawInput":{"url":"https://a.example"},` + diff,
			"write edit a file: $W/a.txt + url open an address: https://a.example (sensitive)"},
		"a plan to change": {`"kind":"switch_mode","rawInput":{"plan":"1. x"},` + diff,
			"mcp leave its mode: 1. x + write edit a file: $W/a.txt (sensitive)"},
		"a tool to change": {`"kind":"other","name":"save","rawInput":{"x":1},` + diff,
			`mcp use a tool: save {"x":1} + write use a file: $W/a.txt (sensitive)`},
		"a patch to read": {`"kind":"read","rawInput":{"path":"a.txt","patch":"*** Update File: b.txt\n"}`, "write edit a file: b.txt + write edit a file: a.txt (sensitive)"},
		"two globs":       {`"kind":"search","rawInput":{"pattern":"x","glob":"*.go","include":"*.c","path":"sub"}`, `read search: sub for "x" in "sub", glob "", names false`},
		"an address":      {`"kind":"fetch","name":"WebFetch","rawInput":{"url":"https://example.com/","prompt":"sum it up"}`, "url open an address: https://example.com/"},
		"two addresses":   {`"kind":"fetch","rawInput":{"urls":["https://a.example","https://b.example"]}`, "url open an address: https://a.example + url open an address: https://b.example"},
		"the web": {`"kind":"fetch","name":"WebSearch","rawInput":{"query":"go 1.26"}`,
			"url search the web: go 1.26"},
		// Tools of MCP servers.
		"claude mcp":      {`"kind":"other","name":"mcp__docs__find","title":"x","rawInput":{"q": "x"},"_meta":{"claudeCode":{"mcpServer":{"name":"docs","source":"user"}}}`, `mcp use a tool: mcp__docs__find {"q":"x"}`},
		"codex mcp":       {`"kind":"execute","title":"mcp.docs.find","rawInput":{"server":"docs","tool":"find","arguments":{"command":"ls"}},"_meta":{"is_mcp_tool_call":true}`, `mcp use a tool: find {"arguments":{"command":"ls"},"server":"docs","tool":"find"}`},
		"mcp with a path": {`"kind":"other","name":"mcp__docs__find","rawInput":{"path":"/out"},"_meta":{"claudeCode":{"mcpServer":{"name":"docs","source":"user"}}}`, `mcp use a tool: mcp__docs__find {"path":"/out"}`},
		"a tool by title": {`"kind":"other","title":"docs-find","rawInput":{"command":"ls"}`,
			"mcp use a tool: docs-find\n{\"command\":\"ls\"} (sensitive)"},
		"a tool of files": {`"kind":"other","name":"save","rawInput":{"x":1},"locations":[{"path":"/out/b.txt"}]`, `mcp use a tool: save {"x":1} + write use a file: /out/b.txt`},
		"a plan to run": {`"kind":"switch_mode","rawInput":{"plan":"1. x","command":"rm x","cwd":"$W"}`,
			"shell run a command: rm x"},
		"nothing": {`"kind":"other"`,
			"mcp use a tool: an act that the agent does not describe (sensitive)"},
	} {
		t.Run(name, func(t *testing.T) {
			h.t = t
			before := len(h.Asked())
			h.play(frames{Ask: []json.RawMessage{asks(c.call)}})
			asked := h.Asked()[before:]
			if len(asked) != 1 {
				t.Fatalf("asked %d times", len(asked))
			}
			if got := h.about(asked[0]); got != c.want {
				t.Errorf("asked about %s\nwant %s", got, c.want)
			}
			if asked[0].Sensitive != (asked[0].Why != "") {
				t.Errorf("sensitive %v, why %q", asked[0].Sensitive, asked[0].Why)
			}
		})
	}
}

// A command runs in the folder that its call names, or else where the shell begins; what may be
// another folder, or changes what the command means, leaves that unknown.
func TestTheFolderOfACommand(t *testing.T) {
	for call, want := range map[string]string{
		`"kind":"execute","rawInput":{"command":"ls","cwd":"/out"}`:                                            "/out false",
		`"kind":"read","rawInput":{"command":["ls"],"workdir":"sub"}`:                                          "sub false",
		`"kind":"execute","rawInput":{"command":"ls"}`:                                                         "$W false",
		`"kind":"execute","rawInput":{"command":"ls","description":"x","timeout":5,"run_in_background":false}`: "$W false",
		`"kind":"execute","rawInput":{"command":"ls","directory":"sub"}`:                                       "$W true",
		`"kind":"execute","rawInput":{"command":"ls","env":{"GOFLAGS":"x"}}`:                                   "$W true",
		`"kind":"execute","rawInput":{"command":"ls","cwd":"/out","workdir":"/"}`:                              "/out false",
		`"kind":"other","name":"Shell","rawInput":{"command":"ls","cwd":"/out"}`:                               " true",
	} {
		h := sit(t, "polite", nil, nil)
		h.play(frames{Ask: []json.RawMessage{asks(call)}})
		p := h.Asked()[0]
		if got := strings.ReplaceAll(fmt.Sprint(p.Cwd, " ", p.CwdUnknown), h.dir, "$W"); got != want {
			t.Errorf("%s is in %s, want %s", call, got, want)
		}
	}
}

// What any report of a call says of its folder counts: the question of OpenCode leaves it out.
func TestTheFolderOfAnEarlierReport(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"make","cwd":"$W/sub","description":"x"}`: "$W/sub false false",
		// it does not agree with itself
		`{"command":"make","cwd":"$W","workdir":"sub"}`:        "$W false true",
		`{"command":"make","env":{"GOFLAGS":"-exec=x"}}`:       "$W true false",
		`{"command":"make","description":"x","timeout":60000}`: "$W false false",
	} {
		h := sit(t, "polite", nil, nil)
		h.play(frames{Before: []json.RawMessage{json.RawMessage(
			`{"sessionUpdate":"tool_call","toolCallId":"c1","kind":"execute","status":"pending","rawInput":` + input + `}`)},
			Ask: []json.RawMessage{asks(`"kind":"execute","rawInput":{"command":"make"}`)}})
		p := h.Asked()[0]
		if got := strings.ReplaceAll(fmt.Sprint(p.Cwd, " ", p.CwdUnknown, " ", p.Sensitive), h.dir,
			"$W"); got != want {
			t.Errorf("%s: asked about in %s, want %s", input, got, want)
		}
	}
}

// The folder of an agent's shell is known from the first call on, across turns, until a command may
// have left it.
func TestTheShellIsFollowed(t *testing.T) {
	type step struct{ command, end, in string } // end is more of the call's end; in is where it began
	for name, c := range map[string]struct {
		untried bool
		steps   []step
	}{
		"stays": {steps: []step{{"go vet", `"completed"`, "$W"},
			{"go test ./... 2>&1 | tail -5", `"failed"`, "$W"}, {"cat a.txt", `"completed"`, "$W"},
			{"ls", `"completed"`, "$W"}}},
		"may have moved": {steps: []step{{"cd ./sub", `"completed"`, "$W"}, {"ls", `"completed"`, ""},
			{"cd $W", `"completed"`, ""}, {"ls", `"completed"`, ""}}},
		"has not ended": {steps: []step{{"cd ./sub", `"in_progress"`, "$W"},
			{"ls", `"completed"`, ""}}},
		"is a program":    {steps: []step{{"make", `"completed"`, "$W"}, {"ls", `"completed"`, ""}}},
		"was never tried": {untried: true, steps: []step{{"ls", `"completed"`, ""}}},
	} {
		h := sit(t, "polite", func(cfg *acp.Config) { cfg.Untried = c.untried }, nil)
		if err := os.MkdirAll(filepath.Join(h.dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		for i, s := range c.steps {
			id := fmt.Sprintf(`"toolCallId":"s%d"`, i)
			input := fmt.Sprintf(`"kind":"execute","rawInput":{"command":%q}`, s.command)
			h.play(frames{Before: []json.RawMessage{json.RawMessage(`{"sessionUpdate":"tool_call",` + id +
				`,"status":"pending",` + input + `}`)},
				Ask: []json.RawMessage{json.RawMessage(`{"toolCall":{` + id + `,"status":"pending",` + input +
					`}}`)},
				After: []json.RawMessage{json.RawMessage(`{"sessionUpdate":"tool_call_update",` + id +
					`,"status":` + s.end + `}`)}})
			p := h.Asked()[i]
			got := strings.ReplaceAll(p.Cwd, h.dir, "$W")
			if p.CwdUnknown {
				got = ""
			}
			if got != s.in {
				t.Errorf("%s: %q begins in %q, want %q", name, s.command, got, s.in)
			}
		}
	}
}

// A call that was seen meanwhile, or a tool of no known kind, may have moved the shell.
func TestTheShellMayBeMovedByOthers(t *testing.T) {
	for name, other := range map[string]string{
		"another call": `"toolCallId":"s2","kind":"execute","status":"in_progress","rawInput":{"command":"cd ./sub"}`,
		"a tool":       `"toolCallId":"s2","kind":"other","name":"EnterWorktree","status":"completed","rawInput":{"name":"x"}`,
	} {
		h := sit(t, "polite", nil, nil)
		if err := os.MkdirAll(filepath.Join(h.dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		const call = `"toolCallId":"s1","status":"pending","kind":"execute","rawInput":{"command":"go test"}`
		h.play(frames{Before: []json.RawMessage{json.RawMessage(`{"sessionUpdate":"tool_call",` + call +
			`}`), json.RawMessage(`{"sessionUpdate":"tool_call",` + other + `}`)},
			Ask: []json.RawMessage{json.RawMessage(`{"toolCall":{` + call + `}}`)}})
		if p := h.Asked()[0]; !p.CwdUnknown {
			t.Errorf("%s: the folder is taken for %s", name, p.Cwd)
		}
	}
}

// THREATS 53: a call on very many files is asked about with all of them, and soon.
func TestThreat53VeryManyPaths(t *testing.T) {
	const n = 2000
	var locations, diffs, patch strings.Builder
	for i := range n {
		fmt.Fprintf(&locations, `{"path":"$W/f%d"},`, i)
		fmt.Fprintf(&diffs, `{"type":"diff","path":"$W/f%d","oldText":null,"newText":"x"},`, i)
		fmt.Fprintf(&patch, `--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n`, i, i)
	}
	h := sit(t, "polite", nil, nil)
	h.play(frames{Ask: []json.RawMessage{asks(`"kind":"edit","locations":[` + locations.String() +
		`{"path":"$W/f0"}],"rawInput":{"path":"` + strings.Repeat("x", 1<<20) +
		`","diff":"` + patch.String() + `"},"content":[` + diffs.String() +
		`{"type":"diff","path":"$W/f0","newText":"x"}]`)}})
	if asked := h.Asked(); len(asked) != 1 || len(asked[0].Also) != n || !asked[0].Sensitive {
		t.Errorf("asked %d times", len(asked))
	}
}

// THREATS 88: what a model or a stranger's server can write makes no call one of the session's.
func TestThreat88OnlyAMarkMakesACallOurs(t *testing.T) {
	const claude = `"_meta":{"claudeCode":{"toolName":"mcp__webchat__run_and_display","mcpServer":{"name":"webchat","source":"dynamic"}}}`
	const codex = `{"toolCallId":"c1","kind":"execute","title":"mcp.webchat.run_and_display","status":"in_progress","rawInput":{"server":"webchat","tool":"run_and_display","arguments":{"command":"ls"}},"_meta":{"is_mcp_tool_call":true}}`
	for name, c := range map[string]struct {
		mark   acp.Mark
		before string
		call   string // of the question
		beside string // it
		id     string // of the call; empty: c1
		ours   bool
	}{
		"the title, unknown": {call: `"kind":"other","title":"webchat-run_and_display"`},
		"all of claude's, " +
			"unknown": {call: `"kind":"other","name":"mcp__webchat__run_and_display","title":"mcp__webchat__run_and_display",` + claude},
		"the title, claude": {
			mark: acp.MarkClaude,
			call: `"kind":"other","title":"webchat-run_and_display","rawInput":{"command":"webchat-run_and_display"}`,
		},
		"the name, claude": {
			mark: acp.MarkClaude,
			call: `"kind":"other","name":"mcp__webchat__run_and_display","title":"mcp__webchat__run_and_display"`,
		},
		"claude": {
			mark: acp.MarkClaude,
			call: `"kind":"other","name":"mcp__webchat__run_and_display","rawInput":{"command":"ls"},` +
				claude,
			ours: true,
		},
		"claude, the user's": {mark: acp.MarkClaude, call: `"kind":"other",` +
			strings.Replace(claude, "dynamic", "user", 1)},
		"claude, another server": {mark: acp.MarkClaude, call: `"kind":"other",` +
			strings.Replace(claude, `"name":"webchat"`, `"name":"webchat__run"`, 1)},
		"claude, no such tool": {mark: acp.MarkClaude, call: `"kind":"other",` +
			strings.Replace(claude, "run_and_display", "and_display", 1)},
		"claude, told before": {
			mark:   acp.MarkClaude,
			before: `{"toolCallId":"c1","kind":"other","title":"x",` + claude + `}`,
			call:   `"kind":"execute","rawInput":{"command":"rm x"}`,
		},
		"codex": {
			mark:   acp.MarkCodex,
			before: codex,
			call:   `"kind":"execute"`,
			beside: `,"_meta":{"is_mcp_tool_approval":true}`,
			ours:   true,
		},
		"codex, a command": {
			mark:   acp.MarkCodex,
			before: codex,
			call:   `"kind":"execute","rawInput":{"command":"rm x"}`,
			beside: `,"_meta":{"is_mcp_tool_approval":true}`,
		},
		"codex, no approval": {mark: acp.MarkCodex, before: codex, call: `"kind":"execute"`},
		"codex, no mark": {
			mark:   acp.MarkCodex,
			before: strings.Replace(codex, "is_mcp_tool_call", "x", 1),
			call:   `"kind":"execute"`,
			beside: `,"_meta":{"is_mcp_tool_approval":true}`,
		},
		"codex, another server": {
			mark:   acp.MarkCodex,
			before: strings.Replace(codex, `"server":"webchat"`, `"server":"webchat.run"`, 1),
			call:   `"kind":"execute"`,
			beside: `,"_meta":{"is_mcp_tool_approval":true}`,
		},
		"gemini, the command": {
			mark: acp.MarkGemini,
			call: `"kind":"other","title":"webchat-run_and_display"`,
		},
		"gemini, another's tool": {
			mark: acp.MarkGemini,
			id:   "run_and_display__c1",
			call: `"kind":"other","title":"x"`,
		},
		"gemini": {
			mark: acp.MarkGemini,
			id:   "mcp_webchat_run_and_display__c1",
			call: `"kind":"other","title":"x"`,
			ours: true,
		},
		"qwen, other input": {
			mark:   acp.MarkQwen,
			before: `{"toolCallId":"c1","kind":"other","title":"x","rawInput":{"command":"ls"},"_meta":{"provenance":"mcp","serverId":"webchat","toolName":"mcp__webchat__run_and_display"}}`,
			call:   `"kind":"other","title":"x","rawInput":{"command":"rm x"}`,
		},
		"qwen, another server": {
			mark: acp.MarkQwen,
			call: `"kind":"other","title":"x","_meta":{"provenance":"mcp","serverId":"docs","toolName":"mcp__webchat__run_and_display"}`,
		},
		"qwen, another before": {
			mark:   acp.MarkQwen,
			before: `{"toolCallId":"c1","kind":"other","title":"x","_meta":{"provenance":"mcp","serverId":"docs","toolName":"mcp__webchat__run_and_display"}}`,
			call:   `"kind":"other","title":"x"`,
		},
		"qwen, the title": {
			mark: acp.MarkQwen,
			call: `"kind":"other","title":"webchat-run_and_display","_meta":{"provenance":"mcp","serverId":"docs","toolName":"mcp__docs__run"}`,
		},
		"qwen": {
			mark: acp.MarkQwen,
			call: `"kind":"other","title":"x","_meta":{"provenance":"mcp","serverId":"webchat","toolName":"mcp__webchat__run_and_display"}`,
			ours: true,
		},
		"webchat_run, and_display": {call: `"kind":"other","title":"webchat_run_and_display"`},
	} {
		t.Run(name, func(t *testing.T) {
			h := sit(t, "polite", func(cfg *acp.Config) { cfg.Mark = c.mark }, func(h *agenttest.Host) {
				h.Permit = func(agent.Permission) agent.Verdict {
					return agent.Verdict{Decision: event.Deny, Reason: "no"}
				}
			})
			raw := func(text string) json.RawMessage {
				return json.RawMessage(strings.ReplaceAll(text, `"c1"`, strconv.Quote(cmp.Or(c.id, "c1"))))
			}
			f := frames{Ask: []json.RawMessage{raw(strings.TrimSuffix(string(asks(c.call)), "}") + c.beside +
				"}")},
				After: []json.RawMessage{raw(`{"toolCallId":"c1","status":"failed"}`)}}
			if c.before != "" {
				f.Before = []json.RawMessage{json.RawMessage(c.before)}
			}
			h.play(f)
			if asked := len(h.Asked()); (asked == 0) != c.ours ||
				strings.Contains(h.Said()[0], `"yes"`) != c.ours {
				t.Errorf("asked %d times, and it was answered %s", asked, h.Said()[0])
			}
			if rows := len(all[event.ToolExecutionStart](h)); rows != 1 {
				t.Errorf("it has %d rows, though it never reached the session", rows)
			}
		})
	}
}

// THREATS 113: an agent that says which server a tool is of says it to rules, which know the tool
// by one name. Of presets only Claude Code asks about each such tool, and the others are said not
// to.
func TestThreat113ToolsOfServersHaveOneName(t *testing.T) {
	for mark, c := range map[acp.Mark]struct{ id, call, tool, full string }{
		acp.MarkClaude: {"c1",
			`"kind":"other","name":"mcp__docs__find","rawInput":{"q":"x"},"_meta":{"claudeCode":{"toolName":"mcp__docs__find","mcpServer":{"name":"docs","source":"user"}}}`, "mcp__docs__find", "docs-find"},
		acp.MarkCodex: {"c1",
			`"kind":"execute","title":"mcp.docs.find","rawInput":{"server":"docs","tool":"find"},"_meta":{"is_mcp_tool_call":true}`, "find", "docs-find"},
		acp.MarkQwen: {"c1",
			`"kind":"other","title":"x","_meta":{"provenance":"mcp","serverId":"docs","toolName":"mcp__docs__find"}`, "mcp__docs__find", "docs-find"},
		acp.MarkGemini: {"mcp_docs_find__1", `"kind":"other","title":"find (docs MCP Server)"`,
			"mcp_docs_find", ""},
	} {
		h := sit(t, "polite", func(cfg *acp.Config) { cfg.Mark = mark }, nil)
		h.play(frames{Ask: []json.RawMessage{json.RawMessage(strings.Replace(string(asks(c.call)), `"c1"`,
			strconv.Quote(c.id), 1))}})
		if asked := h.Asked(); len(asked) != 1 || asked[0].Kind != agent.KindMCP ||
			asked[0].ToolName != c.tool || asked[0].ServerTool() != c.full {
			t.Errorf("%s: asked about %+v", mark, asked)
		}
	}
	for name, p := range acp.Presets() {
		if p.AsksTools != (name == "claude") {
			t.Errorf("%s asks about each tool: %v", name, p.AsksTools)
		}
	}
}

// A call that looks like ours, was not asked about and never reached the session is shown,
// at the latest when the turn ends, also beside one that did.
func TestACallThatOnlyLooksLikeOursIsShown(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	h.play(frames{Before: []json.RawMessage{json.RawMessage(
		`{"toolCallId":"c1","kind":"other","title":"webchat-run_and_display","status":"in_progress"}`)}})
	if begun := all[event.ToolExecutionStart](h); len(begun) != 1 {
		t.Errorf("it begins %+v", begun)
	}
}

// THREATS 88: a call of another server's tool that has the name of ours has its row when it begins,
// and not when the turn ends.
func TestThreat88AnothersToolOfOurNameIsShownAtOnce(t *testing.T) {
	for server, first := range map[string]string{"webchat": "Bash", "docs": "x"} {
		h := sit(t, "polite", func(c *acp.Config) { c.Mark = acp.MarkQwen }, nil)
		h.play(frames{Before: []json.RawMessage{
			json.RawMessage(`{"toolCallId":"c0","kind":"other","name":"x","title":"x","status":"in_progress",
				"_meta":{"provenance":"mcp","serverId":"` + server + `","toolName":"mcp__webchat__run_and_display"}}`),
			json.RawMessage(
				`{"toolCallId":"c2","kind":"execute","name":"Bash","title":"ls","status":"in_progress","rawInput":{"command":"ls"}}`)}})
		var rows []string
		for _, begun := range all[event.ToolExecutionStart](h) {
			rows = append(rows, begun.ToolName)
		}
		if len(rows) == 0 || (rows[0] == "Bash") != (first == "Bash") {
			t.Errorf("the rows beside a call of %s are %v, want that of %s first", server, rows, first)
		}
	}
}

// An edit that was allowed and that the agent makes itself, though it asks webchat to write
// the file, is not shown as refused; a second one is.
func TestAnAllowedEditIsNotShownAsRefused(t *testing.T) {
	h := sit(t, "polite", nil, nil)
	edit := asks(
		`"kind":"edit","title":"new.txt","locations":[{"path":"$W/new.txt"}],"rawInput":{"filepath":"$W/new.txt"},"content":[{"type":"diff","path":"$W/new.txt","oldText":"","newText":"hello\n"}]`)
	f := frames{
		Ask:   []json.RawMessage{edit},
		Write: "$W/new.txt",
		After: []json.RawMessage{json.RawMessage(
			`{"toolCallId":"c1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"Wrote file successfully."}}]}`)},
	}
	h.play(f)
	if told := all[event.SessionError](h); len(told) > 0 {
		t.Errorf("the session reports %+v", told)
	}
	if ends := all[event.ToolExecutionComplete](h); len(ends) != 1 || !ends[0].Success {
		t.Errorf("it ends as %+v", ends)
	}
	if b, err := os.ReadFile(filepath.Join(h.dir, "new.txt")); err != nil || string(b) != "hello\n" {
		t.Errorf("%q, %v", b, err)
	}
	h.play(frames{Write: "$W/new.txt"})
	if told := all[event.SessionError](h); len(told) != 1 || told[0].Kind != event.KindDenied {
		t.Errorf("a write that was not asked about is reported as %+v", told)
	}
}
