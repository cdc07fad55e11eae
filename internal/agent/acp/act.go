package acp

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
)

// Why an act is asked about each time, for people.
const (
	whyOdd     = "Part of the agent's request cannot be read, so you are asked each time."
	whyTorn    = "The agent's request contradicts itself, so you are asked each time."
	whyMissing = "The agent's request is not exact, so you are asked each time."
)

// act is what the agent asks for, as the session understands it: every path that the call's diffs,
// its locations and its input name. What is missing, cannot be read or does not agree is sensitive.
// The title decides nothing; it is shown where nothing else is known.
func (c *conn) act(k *call) agent.Permission {
	in := inputOf(k.RawInput)
	a := &asking{
		at:     c.workspace,
		mark:   c.b.cfg.Mark,
		folder: c.shell.folder(k),
		k:      k,
		in:     &in,
		Act: convo.Act{
			Absolute:   c.workspace.absolute,
			Permission: agent.Permission{ToolCallID: k.ID, ToolName: k.name(), Diff: k.proposed},
		},
	}
	command := in.command()
	server, tool := k.mcpTool()
	switch {
	case server == "" && (k.Kind == "execute" || command != "" && isFileKind(k.Kind)):
		a.command(command)
	case k.Kind == "edit" || k.Kind == "delete" || k.Kind == "move":
		a.edit()
	case k.Kind == "read":
		a.read()
	case k.Kind == "search":
		a.search()
	case k.Kind == "fetch":
		a.fetch()
	case k.Kind == "switch_mode":
		a.plan()
	default:
		a.tool(server, tool, command)
	}
	if in.odd {
		a.Doubt(whyOdd)
	}
	if a.Resource == "" {
		a.Doubt(whyMissing)
		a.Resource = k.everything()
	}
	return a.Sealed(k.CallTitle, string(k.RawInput))
}

// isFileKind reports whether calls of a kind are about files or addresses.
func isFileKind(kind string) bool {
	return slices.Contains([]string{"edit", "delete", "move", "read", "search", "fetch",
		"switch_mode"}, kind)
}

// asking is a permission that is put together.
type asking struct {
	at     workspace
	mark   Mark
	folder string // where its command begins; empty: it is not known
	k      *call
	in     *input
	convo.Act
}

// paths adds the paths of the call, and says how they agree: located are those of its locations,
// diffed those of its diffs, given those of its input.
func (a *asking) paths(kind agent.Kind, action string) (located, diffed, given []string) {
	for _, l := range a.k.Locations {
		located = append(located, l.Path)
	}
	for _, p := range a.k.content {
		if p.Type == "diff" {
			diffed = append(diffed, p.Path)
		}
	}
	given, heads := a.in.paths()
	all := slices.Concat(diffed, located, given)
	for _, path := range all {
		if path == "" || !readable(path) {
			a.Doubt(whyOdd)
		}
		if path != "" {
			a.About(agent.Resource{Kind: kind, Action: action, Resource: path})
		}
	}
	known := a.files(all)
	if len(all) > 0 && a.in.lists(a.knownFields()...) {
		a.Doubt(whyOdd)
	}
	for _, head := range heads {
		if !a.at.names(head, known) {
			a.Doubt(whyTorn)
			a.About(agent.Resource{Kind: kind, Action: action, Resource: head})
		}
	}
	for _, url := range a.in.texts(urlFields) {
		a.About(agent.Resource{Kind: agent.KindURL, Action: "open an address", Resource: url})
	}
	return located, diffed, given
}

// knownFields are the fields whose texts are understood in a call of this kind. Globs narrow a
// search, and name files elsewhere.
func (a *asking) knownFields() []map[string]bool {
	known := []map[string]bool{pathFields, commandFields, folderFields, urlFields, {"args": true}}
	if a.k.Kind == "search" {
		known = append(known, patternFields, globFields, leftOutFields)
	}
	return known
}

// command is a shell command, wherever the agent put it, with the files that its call names or
// changes. The locations of a call that only runs it are guesses.
func (a *asking) command(command string) {
	a.Kind, a.Action, a.Resource = agent.KindShell, "run a command", command
	a.k.shell.read(a.in)
	folders := a.k.shell.named
	if len(a.files(folders)) > 1 || len(a.in.texts(folderFields)) > 1 {
		a.Doubt(whyTorn)
	}
	a.Cwd, a.CwdUnknown = cmp.Or(a.folder, string(a.at)), a.folder == ""
	if len(folders) > 0 {
		a.Cwd, a.CwdUnknown = folders[0], false
	}
	switch shown, edits := a.shows(), a.k.Kind == "edit" || a.k.Kind == "delete" ||
		a.k.Kind == "move"; {
	case shown || edits:
		if !edits {
			a.Doubt(whyTorn)
		}
		a.paths(agent.KindWrite, "edit a file")
	case a.k.Kind != "execute":
		a.paths(agent.KindRead, "read")
	}
}

// edit is a change of files. Agents name them in their locations, and show what changes.
func (a *asking) edit() {
	a.Kind, a.Action = agent.KindWrite, a.k.Kind+" a file"
	located, diffed, given := a.paths(agent.KindWrite, a.Action)
	switch {
	case len(located) == 0, a.k.Kind == "edit" && len(diffed) == 0 && len(a.in.fields) == 0:
		a.Doubt(whyMissing)
	case len(diffed) > 0 && !a.sameFiles(diffed, located), len(given) > 0 &&
		!a.shares(given, slices.Concat(diffed, located)):
		a.Doubt(whyTorn)
	}
}

// sameFiles reports whether two lists name the same files.
func (a *asking) sameFiles(some, other []string) bool {
	return maps.Equal(a.files(some), a.files(other))
}

// shares reports whether two lists have a file in common.
func (a *asking) shares(some, other []string) bool {
	known := a.files(other)
	return slices.ContainsFunc(some, func(p string) bool { return known[a.at.absolute(p)] })
}

// files are the absolute paths of a list.
func (a *asking) files(list []string) map[string]bool {
	all := map[string]bool{}
	for _, p := range list {
		all[a.at.absolute(p)] = true
	}
	return all
}

// read is a look at files. One that shows a change is taken for that.
func (a *asking) read() {
	a.Kind, a.Action = agent.KindRead, "read"
	a.looks(a.Action)
	if patterns := a.in.texts(patternFields); len(patterns) > 0 && !a.changes() { // it searches
		a.search()
	}
}

// looks adds the paths of a call that should change nothing.
func (a *asking) looks(action string) {
	kind := agent.KindRead
	if a.changes() {
		a.Doubt(whyTorn)
		kind, action = agent.KindWrite, "edit a file"
		a.Kind = kind // if it names none
	}
	a.paths(kind, action)
}

// changes reports whether a call shows a change.
func (a *asking) changes() bool {
	return a.shows() || len(a.in.texts(patchFields)) > 0
}

// shows reports whether the content of a call has a change.
func (a *asking) shows() bool {
	return slices.ContainsFunc(a.k.content, func(p part) bool { return p.Type == "diff" })
}

// search looks for a text or for names in files and folders, or in the workspace. Which files a
// glob leaves out is known of fields that only filter.
func (a *asking) search() {
	a.Kind, a.Action = agent.KindRead, "search"
	patterns, globs := a.in.texts(patternFields), a.in.texts(globFields)
	s := agent.Search{Names: a.k.Name == "Glob"} // of Claude Code
	if len(patterns) != 1 {
		a.Doubt(whyMissing)
	} else if s.Pattern = patterns[0]; len(globs) == 0 && a.k.Name != "Grep" && leaves(s.Pattern) {
		a.Doubt(whyTorn) // it may name files elsewhere
	}
	if len(globs) == 1 {
		s.Glob = globs[0]
	}
	if slices.ContainsFunc(globs, leaves) {
		a.Doubt(whyTorn)
	}
	a.looks(a.Action)
	if a.Resource == "" && s.Pattern != "" {
		a.About(agent.Resource{Kind: agent.KindRead, Action: a.Action, Resource: string(a.at)})
	}
	in := func(path string) *agent.Search { search := s; search.Path = path; return &search }
	if a.Kind == agent.KindRead && a.Resource != "" {
		a.Permission.Search = in(a.Resource)
	}
	for i := range a.Also {
		if a.Also[i].Kind == agent.KindRead {
			a.Also[i].Search = in(a.Also[i].Resource)
		}
	}
}

// elsewhere is what begins a path outside of the folder, also within braces.
var elsewhere = regexp.MustCompile(`(^|[{,!(|])(/|~|[A-Za-z]:)|\.\.`)

// leaves reports whether a pattern of file names may match outside of the folder.
func leaves(glob string) bool { return elsewhere.MatchString(glob) }

// fetch opens addresses, or searches the web.
func (a *asking) fetch() {
	a.Kind, a.Action = agent.KindURL, "open an address"
	a.looks("read")
	if query := a.in.texts(patternFields); len(query) == 1 && a.Resource == "" {
		a.Action, a.Resource = "search the web", query[0]
	}
}

// plan leaves the mode in which the agent plans.
func (a *asking) plan() {
	a.Kind, a.Action = agent.KindMCP, "leave its mode"
	plans := a.in.texts(map[string]bool{"plan": true})
	a.Resource = cmp.Or(strings.Join(plans, "\n"), a.k.output())
	if a.changes() {
		a.Doubt(whyTorn)
		a.paths(agent.KindWrite, "edit a file")
	}
}

// tool is a tool of an MCP server, or one of the agent's own that is of no known kind. It is known
// by what the agent's program calls it. Files that it names count as written; what the arguments of
// a server's tool mean is the server's to say.
func (a *asking) tool(server, tool, command string) {
	a.Kind, a.Action, a.Server = agent.KindMCP, "use a tool", server
	if name, _, ok := strings.Cut(a.k.ToolCallID, "__"); ok && a.mark == MarkGemini &&
		strings.HasPrefix(name, "mcp_") {
		a.ToolName = name
	}
	if tool != "" {
		a.ToolName, a.Resource = tool, strings.TrimSpace(tool+" "+convo.Compact(a.k.RawInput))
	} else {
		a.Doubt(whyMissing)
		a.Resource = a.k.everything()
	}
	if a.shows() {
		a.Doubt(whyTorn)
	}
	switch {
	case server != "":
		a.in = &input{}
	case command != "" && tool != "":
		a.About(agent.Resource{Kind: agent.KindShell, Action: "run a command", Resource: command})
		a.CwdUnknown = true
	}
	a.paths(agent.KindWrite, "use a file")
}

// everything is all that is known of a call, for people to read.
func (k *call) everything() string {
	var all []string
	for _, s := range []string{k.CallTitle, k.Name, convo.Compact(k.RawInput), k.output()} {
		if s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return cmp.Or(strings.Join(all, "\n"), "an act that the agent does not describe")
}
