package autohand

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
)

// input are the arguments of a call by their exact names, as the CLI reads them: to package json
// "Path" would be "path", too.
type input map[string]json.RawMessage

func (k *call) input() (in input) {
	_ = json.Unmarshal(k.Args, &in) // what is not there is not known
	return in
}

// text is an argument; empty if it is none, or no text.
func (in input) text(name string) (s string) {
	_ = json.Unmarshal(in[name], &s)
	return s
}

// texts is an argument that is a text or a list of them. It is not ok for one that is neither, and
// for an empty text.
func (in input) texts(name string) (all []string, ok bool) {
	raw, given := in[name]
	if !given || string(raw) == "null" {
		return nil, true
	}
	if json.Unmarshal(raw, &all) != nil {
		all = []string{in.text(name)}
	}
	return all, !slices.Contains(all, "")
}

// first is the first of some arguments that is there, as one text.
func (in input) first(names []string) string {
	for _, name := range names {
		if all, _ := in.texts(name); len(all) > 0 && all[0] != "" {
			return strings.Join(all, " ")
		}
	}
	return ""
}

// command is the line that a shell runs.
func (in input) command() string {
	args, _ := in.texts("args")
	return strings.TrimSpace(strings.Join(append([]string{in.text("command")}, args...), " "))
}

// background reports whether a command is left running.
func (k *call) background() (is bool) {
	_ = json.Unmarshal(k.input()["background"], &is)
	return is && acts[k.Tool].kind == agent.KindShell
}

// workspace is where a CLI works, and what the folder makes of its tools. Its methods may be called
// concurrently.
type workspace struct {
	folder, home string
	tools        []agent.ToolSpec // the session's

	mu    sync.Mutex        // guards lines
	lines map[string]string // of the workspace's own tools when the process started
}

// started notes the workspace's own tools as a process that starts reads them.
func (w *workspace) started() {
	lines, _ := scripts(w.folder)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = lines
}

// absolute is a path as the CLI takes it.
func (w *workspace) absolute(path string) string {
	if rest, home := strings.CutPrefix(path, "~"); home && (rest == "" || rest[0] == '/') {
		return filepath.Join(w.home, rest)
	}
	return convo.In(w.folder, path)
}

// about reports whether a call may change a file.
func (w *workspace) about(k *call, path string) bool {
	in := k.input()
	for _, u := range acts[k.Tool].paths {
		all, _ := in.texts(u.arg)
		for _, name := range all {
			if w.absolute(name) == w.absolute(path) {
				return true
			}
		}
	}
	fixed := acts[k.Tool].fixed
	return fixed != "" && w.absolute(fixed) == w.absolute(path)
}

// act is what a call asks for, as the session understands it; r is the CLI's own question, if it is
// one, which says less than the arguments.
func (w *workspace) act(k *call, r permissionRequest) agent.Permission {
	in, a := k.input(), acts[k.Tool]
	parts, known := w.parts(k.Tool, in)
	p := convo.Act{Absolute: w.absolute, Permission: agent.Permission{
		ToolCallID: k.ID,
		ToolName:   k.Tool,
		Diff:       w.proposal(k.Tool, in),
	}}
	switch {
	case a.kind == agent.KindShell:
		parts = []agent.Resource{{
			Kind:     a.kind,
			Action:   a.action,
			Resource: cmp.Or(in.command(), r.Context.Command),
		}}
		p.Cwd, p.CwdUnknown = w.folder, k.Tool == "git_worktree_run_parallel" || len(in) == 0
		if k.Tool == "run_command" { // shell stays where it is
			p.Cwd = w.absolute(in.text("directory"))
		}
		if line := parts[0].Resource; !known && line != "" && len(in) > 0 {
			parts[0].Resource = line + " " + string(k.Args)
		}
		if k.background() {
			parts[0].Action = "run a command in the background"
		}
	case a.kind == agent.KindURL:
		parts = []agent.Resource{{Kind: a.kind, Action: a.action, Resource: in.first(a.query)}}
	case len(parts) == 0 && a.kind != "" && r.Context.Path != "":
		parts, known = []agent.Resource{{
			Kind:     a.kind,
			Action:   cmp.Or(a.action, "work on a file"),
			Resource: r.Context.Path,
		}}, false
	}
	if line := w.lineOf(k); line != "" { // some of these names the CLI has no tool of its own for
		parts = append(parts, agent.Resource{
			Kind:     agent.KindShell,
			Action:   "run the command of a tool that this folder defines",
			Resource: line,
		})
		p.Cwd = w.folder
	}
	if len(parts) == 0 || parts[0].Resource == "" {
		known = known && a.kind == "" && (free[k.Tool] || strings.HasPrefix(k.Tool, "mcp__") ||
			w.definesKnown())
		parts = []agent.Resource{{Kind: agent.KindMCP, Action: "use a tool", Resource: k.Tool + " " +
			string(k.Args)}}
		if rest, ok := strings.CutPrefix(k.Tool, "mcp__"); ok {
			p.Server, _, _ = strings.Cut(rest, "__")
		}
	}
	for _, resource := range parts {
		p.About(resource)
	}
	if !known {
		p.Doubt("webchat does not understand all of the call, so you are asked each time.")
	}
	return p.Sealed(k.Tool, string(k.Args))
}

// parts are the files that a call is about. It is not known where something of the call may be
// about another file: then only the user decides.
func (w *workspace) parts(tool string, in input) (parts []agent.Resource, known bool) {
	a := acts[tool]
	known = in != nil && in.understood(tool, a)
	if a.fixed != "" {
		parts = append(parts, agent.Resource{Kind: a.kind, Action: a.action, Resource: a.fixed})
	}
	for _, u := range a.paths {
		all, ok := in.texts(u.arg)
		known = known && ok && (a.search || len(all) > 0) // a search without a path is of the workspace
		for _, path := range all {
			known = known && !strings.HasPrefix(path, "-") // programs take it for an option
			parts = append(parts, agent.Resource{Kind: u.kind, Action: u.action, Resource: path})
		}
	}
	if text := cmp.Or(in.text("patch"), in.text("diff")); strings.HasSuffix(tool, "apply_patch") {
		more, ok := w.patched(text, in.text("path"))
		parts, known = append(parts, more...), known && ok
	}
	// the workspace's own settings are code to some
	if formatter := in.text("formatter"); tool == "format_file" && len(parts) > 0 {
		parts = append(parts, agent.Resource{
			Kind:     agent.KindShell,
			Action:   "run a program for it",
			Resource: strings.TrimSpace(formatter + " " + parts[0].Resource),
		})
	}
	switch {
	case a.search:
		return w.searched(tool, in, parts), known && !strings.HasPrefix(in.first(a.query), "-")
	case a.kind == agent.KindRead && len(parts) == 0 && len(a.paths) == 0:
		parts = []agent.Resource{{Kind: a.kind, Action: a.action, Resource: "."}}
	}
	return parts, known
}

// searched makes searches of the places a call names; none: of the workspace. Fast searches take a
// path for the end of many, so all files are looked at that it may be of.
func (w *workspace) searched(tool string, in input, parts []agent.Resource) []agent.Resource {
	a := acts[tool]
	if len(parts) == 0 {
		parts = []agent.Resource{{Kind: agent.KindRead, Action: a.action, Resource: "."}}
	}
	pattern := in.first(a.query)
	if pattern == "" && a.names {
		return parts // it lists a folder
	}
	pattern = cmp.Or(pattern, a.action)
	for i, p := range parts {
		parts[i].Search = &agent.Search{Pattern: pattern, Path: w.absolute(p.Resource), Names: a.names}
	}
	if place := filepath.ToSlash(filepath.Clean(in.text("path"))); tool == "fff_grep" && place != "." {
		within, err := filepath.Rel(w.folder, w.absolute(place))
		if err == nil && filepath.IsLocal(within) && within != "." {
			parts = append(parts, agent.Resource{
				Kind:     agent.KindRead,
				Action:   "search files of that name",
				Resource: ".",
				Search:   &agent.Search{Pattern: pattern, Glob: filepath.ToSlash(within)},
			})
		}
	}
	return parts
}

// pathlike are names of arguments that may name files, and texts that do.
var (
	pathlikeName = regexp.MustCompile(
		`(?i)path|file|dir|folder|cwd|root|workspace|source|dest|target|location|script|^from$|^to$|^src$`)
	pathlikeText = regexp.MustCompile(
		`^(?:/|~|\.\.?(?:[/\\]|$)|[A-Za-z]:[/\\]|file:)|[/\\]\.\.(?:[/\\]|$)`)
)

// shown are arguments of which the user sees the text, and those of one meaning together.
var shown = [][]string{{"patch", "diff"}, {"contents", "content"}, {"command"}, {"args"},
	{"directory"}}

// understood reports whether no argument that is not of the tool could name a file. What the tools
// of MCP servers do with their arguments is theirs to say.
func (in input) understood(tool string, a act) bool {
	if strings.HasPrefix(tool, "mcp__") {
		return true
	}
	for _, names := range shown {
		texts := 0
		for _, name := range names {
			raw, given := in[name]
			if !given || string(raw) == "null" || !slices.Contains(a.plain, name) {
				continue
			}
			var text string
			var list []string
			if texts++; json.Unmarshal(raw, &text) != nil &&
				(name != "args" || json.Unmarshal(raw, &list) != nil) {
				return false
			}
		}
		if texts > 1 { // which one counts is the CLI's to say
			return false
		}
	}
	for name, raw := range in {
		of := name == "type" || slices.Contains(a.plain, name) || slices.Contains(a.query, name) ||
			slices.ContainsFunc(a.paths, func(u use) bool { return u.arg == name })
		var v any
		// it may change what a command means
		if !of && (json.Unmarshal(raw, &v) != nil || namesFile(name, v) || len(a.paths) > 0 &&
			listsText(v) || a.kind == agent.KindShell && v != nil) {
			return false
		}
	}
	return true
}

// namesFile reports whether an argument may name a file.
func namesFile(name string, v any) bool {
	switch v := v.(type) {
	case string:
		return v != "" && (pathlikeName.MatchString(name) || pathlikeText.MatchString(v))
	case []any:
		return slices.ContainsFunc(v, func(value any) bool { return namesFile(name, value) })
	case map[string]any:
		for inner, value := range v {
			if namesFile(inner, value) {
				return true
			}
		}
	}
	return false
}

// listsText reports whether an argument has a list of texts, each of which may name a file beside
// the one that is known.
func listsText(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(value any) bool {
			return value != "" && isText(value) || listsText(value)
		})
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), listsText)
	}
	return false
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// proposal is what a write would change, where its arguments say so.
func (w *workspace) proposal(tool string, in input) string {
	path := in.text("path")
	if strings.HasSuffix(tool, "apply_patch") {
		return clean(cmp.Or(in.text("patch"), in.text("diff")))
	}
	if path == "" || tool != "write_file" && tool != "append_file" {
		return ""
	}
	old, _, ok := convo.Content(w.absolute(path))
	if !ok {
		return ""
	}
	now := cmp.Or(in.text("contents"), in.text("content"))
	if tool == "append_file" {
		now = old + now
	}
	return diff(path, old, now)
}

// patchedName matches the lines of a patch that name a file.
var patchedName = regexp.MustCompile(
	`^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to |diff --git )(.*?)(?:\t.*)?\r?$`)

// patched are the files that a patch names, but path. It is not ok for a patch whose files cannot
// be known.
func (w *workspace) patched(text, path string) (parts []agent.Resource, ok bool) {
	seen := map[string]bool{"": true, "/dev/null": true}
	ok = text != ""
	for line := range strings.Lines(text) {
		m := patchedName.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			continue
		}
		name := m[1]
		ok = ok && !strings.HasPrefix(name, `"`) // in quotes, with escapes
		switch {
		case strings.HasPrefix(line, "diff --git "):
			// "a/x b/x", unless it is moved, which other lines say
			half := len(name) / 2
			if first, second := name[:half], strings.TrimPrefix(name[half:], " "); strings.TrimPrefix(first,
				"a/") != strings.TrimPrefix(second, "b/") {
				ok = ok && (strings.Contains(text, "\nrename from ") || strings.Contains(text, "\ncopy from "))
				continue
			}
			name = name[:half]
			fallthrough
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			if _, within, cut := strings.Cut(name, "/"); cut && name != "/dev/null" &&
				(path == "" || strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/")) {
				name = within // git takes off the first folder, whatever it is
			}
		}
		if seen[name] || path != "" && (w.absolute(name) == w.absolute(path) ||
			strings.HasSuffix(path, "/"+name)) {
			continue
		}
		seen[name] = true
		parts = append(parts, agent.Resource{
			Kind:     agent.KindWrite,
			Action:   "change a file",
			Resource: name,
		})
	}
	return parts, ok && (path != "" || len(parts) > 0)
}
