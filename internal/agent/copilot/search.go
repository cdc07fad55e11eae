package copilot

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/policy"
)

// search is a call of one of the CLI's search tools. grep and rg take path or paths, glob and more;
// glob takes path or paths, and searches names by its pattern.
type search struct {
	pattern, glob string
	paths         []string // as they were given; one empty: the workspace
	names         bool
}

// searchOf decodes a call; ok is false if it is not a search. The CLI distinguishes upper and lower
// case in the names of arguments.
func searchOf(tool string, arguments json.RawMessage) (s search, ok bool) {
	var fields map[string]json.RawMessage
	if !slices.Contains([]string{"grep", "rg", "glob"}, tool) ||
		json.Unmarshal(arguments, &fields) != nil {
		return s, false
	}
	ok = true
	text := func(name string) (v string) {
		if raw := fields[name]; raw != nil && json.Unmarshal(raw, &v) != nil {
			ok = false
		}
		return v
	}
	s = search{pattern: text("pattern"), glob: text("glob"), names: tool == "glob"}
	if path := text("path"); path != "" {
		s.paths = append(s.paths, path)
	}
	if raw := fields["paths"]; raw != nil {
		var pattern string
		var more []string
		switch {
		case json.Unmarshal(raw, &pattern) == nil:
			more = []string{pattern}
		case json.Unmarshal(raw, &more) != nil:
			return s, false
		}
		s.paths = append(s.paths, more...)
	}
	if len(s.paths) == 0 {
		s.paths = []string{""}
	}
	return s, ok
}

// in returns the search of one of its paths, as the session knows it.
func (s search) in(path string) agent.Search {
	return agent.Search{Pattern: s.pattern, Path: path, Glob: s.glob, Names: s.names}
}

// everyFile are globs that leave nothing out.
var everyFile = []string{"", "*", "**", "**/*"}

// searchHits says which sensitive files a search in a workspace may show, and whether these are
// all.
type searchHits func(ctx context.Context, workspace string, s agent.Search) (sensitive []string,
	complete bool)

// leaveOut returns the arguments with which a search leaves sensitive files out, and which these
// are; nil where there are none, or they cannot be known.
func leaveOut(ctx context.Context, workspace, tool string, arguments json.RawMessage,
	hits searchHits) (changed json.RawMessage, without []string) {
	s, ok := searchOf(tool, arguments)
	if !ok || s.names || !slices.Contains(everyFile, s.glob) || hits == nil {
		return nil, nil
	}
	for _, p := range s.paths {
		found, _ := hits(ctx, workspace, s.in(p)) // where there are more, it is asked
		for _, h := range found {
			// A file the call names is searched whatever the glob, and what is outside is asked
			// about anyway.
			if !slices.Contains(without, h) && !isFile(workspace, p) && !filepath.IsAbs(h) {
				without = append(without, h)
			}
		}
	}
	slices.Sort(without)
	glob, ok := policy.Without(without)
	var fields map[string]any
	if !ok || json.Unmarshal(arguments, &fields) != nil {
		return nil, nil
	}
	fields["glob"] = glob
	if changed, err := json.Marshal(fields); err == nil {
		return changed, without
	}
	return nil, nil
}

// describeSearch says of a permission to read what is searched for and where, as the call has it:
// the CLI names the folder only, with what ".." leads to cut out of its name, and opens what it
// really leads to.
func (x *execution) describeSearch(p *agent.Permission) {
	s, ok := searchOf(x.Tool, x.Args)
	if !ok { // what a search of a folder would show is not known
		p.Sensitive = !isFile(p.Cwd, p.Resource)
		return
	}
	given := p.Resource
	for _, path := range s.paths {
		full := inWorkspace(p.Cwd, path)
		if filepath.Clean(full) != filepath.Clean(p.Resource) {
			continue
		}
		given = path
		if p.Target = astray(full); p.Target != "" {
			break // this is the one to ask about
		}
	}
	found := s.in(given)
	p.Search = &found
	p.Digest = requestDigest(append(append(json.RawMessage(`{"request":"`+p.Digest+`","call":`),
		x.Args...), '}'))
	switch {
	case s.names:
		p.Action = "search a folder for names"
	case isFile(p.Cwd, given):
		p.Action = "search a file"
	default:
		p.Action = "search a folder"
	}
	if len(x.without) > 0 {
		p.Action += ", without " + listNames(x.without)
	}
}

// isFile reports whether a path of a call is that of a file.
func isFile(workspace, path string) bool {
	info, err := os.Stat(policy.Resolve(inWorkspace(workspace, path)))
	return err == nil && info.Mode().IsRegular()
}

// inWorkspace is a path of a call made absolute, but not cleaned: ".." behind a link leaves what
// the link leads to.
func inWorkspace(workspace, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return strings.TrimSuffix(workspace+string(filepath.Separator)+path, string(filepath.Separator))
}

// listNames names files, three at most.
func listNames(names []string) string {
	const most = 3
	switch n := len(names); {
	case n > most:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}
