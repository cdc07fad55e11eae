package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"webchat/internal/event"
	"webchat/internal/policy"
	"webchat/internal/veil"
	"webchat/internal/wording"
)

// verb is what a tool does, in words.
type verb struct {
	done, doing string
	tools       []string
}

var verbs = []verb{
	{"Read", "Reading", []string{"view", "read", "read_file", "readfile", "cat", "open_file"}},
	{"Listed", "Listing", []string{"ls", "list", "glob", "list_dir", "list_directory"}},
	{"Searched", "Searching", []string{"grep", "search", "rg", "find", "search_files", "code_search",
		"file_search"}},
	{"Edited", "Editing", []string{"edit", "str_replace", "str_replace_editor", "apply_patch", "patch",
		"multi_edit", "edit_file"}},
	{"Made", "Making", []string{"create", "create_file"}},
	{"Wrote", "Writing", []string{"write", "write_file"}},
	{"Deleted", "Deleting", []string{"delete", "delete_file", "remove_file"}},
	{"Ran", "Running", []string{"bash", "shell", "sh", "run", "exec", "execute", "powershell",
		"run_command", "terminal"}},
	{"Fetched", "Fetching", []string{"fetch", "web_fetch", "fetch_url", "http"}},
	{"Searched the web", "Searching the web", []string{"web_search"}},
	{"Asked", "Asking", []string{"task", "agent", "subagent"}},
}

func verbOf(tool string) (verb, bool) {
	tool = strings.ToLower(tool)
	own := ""
	if t := toolOf(tool); t.Name == tool {
		own = t.Row
	}
	for _, v := range verbs {
		if slices.Contains(v.tools, tool) || v.done == own {
			return v, true
		}
	}
	return verb{done: "Used", doing: "Using"}, false
}

// Verb is the word the row begins with.
func (c *Call) Verb() string {
	v, _ := verbOf(c.Tool)
	switch {
	case !c.Done():
		return v.doing
	case c.Fault.Code == "aborted":
		return "Stopped"
	case c.Fault.Code == "denied" || c.Fault.Code == "rejected":
		return "Denied"
	}
	return v.done
}

// arguments are a call's, by their names.
type arguments map[string]any

// arguments are the call's, as far as they are an object of simple values.
func (c *Call) arguments() arguments {
	var m arguments
	_ = json.Unmarshal(c.CurrentArgs(), &m) // arguments of another shape have no names to show
	return m
}

var named = []string{"path", "file_path", "filePath", "file", "filename", "command", "cmd",
	"pattern", "query", "url", "prompt", "description", "name"}

// Name is the argument that says most: a path, a command, a pattern.
func (c *Call) Name() string {
	m := c.arguments()
	if s := m.pattern(c.Tool); s != "" {
		return s
	}
	for _, k := range named {
		if s, ok := m[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// Title is what its output is called: what it is about, else its tool.
func (c *Call) Title() string { return cmp.Or(c.Name(), c.Tool) }

// pattern is what a search looks for, which says more than where; empty for other
// tools.
func (m arguments) pattern(tool string) string {
	v, _ := verbOf(tool)
	s, _ := m["pattern"].(string)
	if v.done != "Searched" && v.done != "Listed" {
		return ""
	}
	return s
}

// IsSearch reports whether the call looks for something, so that its result is read from the top.
func (c *Call) IsSearch() bool { return c.arguments().pattern(c.Tool) != "" }

// searches is what a search looks for, and where; empty for other tools.
func (m arguments) searches(tool string) string {
	s := m.pattern(tool)
	if s == "" {
		return ""
	}
	return s + m.in()
}

// in says where a search looks.
func (m arguments) in() string {
	var in []string
	for _, k := range []string{"glob", "include", "path"} {
		if s, ok := m[k].(string); ok && s != "" {
			in = append(in, s)
		}
	}
	if len(in) == 0 {
		return ""
	}
	return " in " + strings.Join(in, ", ")
}

// What is what the row shows behind its verb.
func (c *Call) What() string {
	m := c.arguments()
	s := wording.FirstLine(wording.Plain(c.In.inWorkspace(c.Name())), 200)
	if c.Agent != "" {
		return strings.TrimSuffix(wording.Plain(c.Agent)+": "+s, ": ")
	}
	if _, known := verbOf(c.Tool); !known {
		s = strings.TrimSpace(wording.Plain(c.Tool) + " " + s)
	}
	if _, isPattern := m["pattern"].(string); isPattern && c.Name() == m["pattern"] {
		return s + wording.Plain(m.in())
	}
	if from, to := m.lines(); from > 0 {
		s += ":" + strconv.Itoa(from)
		if to > from {
			s += "–" + strconv.Itoa(to)
		}
	}
	return s
}

// lines are those of a file that are meant; 0: all.
func (m arguments) lines() (from, to int) {
	for _, k := range [][2]string{{"startLine", "endLine"}, {"start_line", "end_line"}} {
		if a, ok := m[k[0]].(float64); ok {
			b, _ := m[k[1]].(float64)
			return int(a), int(b)
		}
	}
	if r, ok := m["view_range"].([]any); ok && len(r) == 2 {
		a, _ := r[0].(float64)
		b, _ := r[1].(float64)
		return int(a), int(b)
	}
	return 0, 0
}

// Price is what its result costs the model.
func (c *Call) Price() string {
	if c.Tokens == 0 || c.State != "done" {
		return ""
	}
	return price(c.Tokens)
}

// counted reports whether what a call did is counted: it is over and has no exception.
func counted(c *Call) bool { return c.State == "done" && !c.Hidden() && c.Kind == "" }

// answers are those by which a call was allowed.
type answers []*Ask

// ByHand says that a person allowed it, and for how long; empty if none was asked.
func (all answers) ByHand() string {
	for _, a := range all {
		if a.Decided.By != event.DecidedByUser {
			continue
		}
		switch a.Decided.Scope {
		case event.ForWorkspace:
			return "you allowed it in this folder"
		case event.ForSession:
			return "you allowed it for this session"
		}
		return "you allowed it once"
	}
	return ""
}

// Last is the last answer, for who answers too late.
func (all answers) Last() *Ask { return all[len(all)-1] }

// Why is the reason of a failure.
func (c *Call) Why() string {
	if c.State != "failed" {
		return ""
	}
	if c.Fault.Code == "aborted" && c.Fault.By == event.DecidedByUser {
		return "by you"
	}
	return wording.FirstLine(wording.Plain(c.Line), 90)
}

// Folded reports whether the row has something inside.
func (c *Call) Folded() bool {
	return len(c.Rewrites) > 0 || len(c.Allowed) > 0 || c.Line != "" || c.Log != "" ||
		c.Partial != "" ||
		c.Progress.ProgressMessage != "" ||
		len(c.Args) > 0 && string(c.Args) != "{}" && string(c.Args) != "null"
}

// More is where the inside of the row is, without the path the server may be below. An
// agent may use an id twice, but hardly in one turn.
func (c *Call) More() string {
	return "/api/sessions/" + url.PathEscape(c.In.ID) + "/tools/" + url.PathEscape(c.ID) + "?from=" +
		strconv.FormatInt(c.From, 10)
}

// CurrentArgs are its arguments as hooks left them.
func (c *Call) CurrentArgs() json.RawMessage {
	if c.Rewritten != nil {
		return c.Rewritten
	}
	return c.Args
}

// Arguments are all of them, for the unfolded row.
func (c *Call) Arguments() string {
	s := readable(c.Args)
	if s == "{}" || s == "null" {
		return ""
	}
	return wording.Revealed(c.In.dotted(cut(s)))
}

// readable is JSON for a reader; what is none is empty.
func readable(j json.RawMessage) string {
	var b bytes.Buffer
	if len(j) == 0 || json.Indent(&b, j, "", "  ") != nil {
		return ""
	}
	if strings.Count(b.String(), "\n") > 3 {
		return b.String()
	}
	b.Reset()               // few enough for one line
	_ = json.Compact(&b, j) // it was valid a moment ago
	return b.String()
}

// Result is what came of it, for the unfolded row.
func (c *Call) Result() string {
	switch v, _ := verbOf(c.Tool); {
	case v.done == "Read" && c.State == "done" && policy.Sensitive(c.Name()) &&
		(c.Log != "" || c.Line != ""):
		return "Not shown: the file may hold secrets. Open it to see it."
	case c.Log != "":
		return wording.Revealed(c.In.dotted(cut(c.Log)))
	case c.Line != "":
		return wording.Revealed(c.In.dotted(cut(c.Line)))
	case c.Partial != "":
		return wording.Revealed(c.In.dotted(c.Partial))
	}
	return wording.Revealed(c.Progress.ProgressMessage)
}

// Detail is what only the user reads about it, on its card.
func (c *Call) Detail() string { return wording.Revealed(c.In.dotted(c.Log)) }

// rowLook is what a row opens on the Desk: the file that was read, and what came of the call.
type rowLook struct {
	Name   string // of the result
	Result bool   // there is one
	Path   string // of the file; empty: none
	Lines  string // of the file that were read: "A-B"; empty: all
}

// Whole is what the row opens on the Desk. Nil: nothing, as an edit is in the row.
func (c *Call) Whole() *rowLook {
	if !c.Done() || c.Refused || c.Kind != "" || c.edits() || c.Fault.Code == "denied" ||
		c.Fault.Code == "rejected" {
		return nil
	}
	w := &rowLook{
		Name:   wording.FirstLine(wording.Plain(cmp.Or(c.Name(), c.Tool)), 200),
		Result: c.Log != "" || c.Line != "",
	}
	if v, _ := verbOf(c.Tool); v.done == "Read" && c.State == "done" {
		w.Path = c.In.inWorkspace(c.Name())
		if from, to := c.arguments().lines(); from > 0 {
			w.Lines = strconv.Itoa(from) + "-" + strconv.Itoa(max(from, to))
		}
	}
	if !w.Result && w.Path == "" {
		return nil
	}
	return w
}

// dotted is [Config.hide]; of a call without pages nothing is shown as it is.
func (s *scope) dotted(text string) string {
	if s == nil {
		return veil.Hide(text)
	}
	return s.hide(text)
}

// cut bounds what an unfolded row holds; the log has all of it.
func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "\n… " + wording.Size(int64(len(s)-maxShown)) +
		" more in the log"
}
