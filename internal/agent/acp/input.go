package acp

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"webchat/internal/agent/convo"
	"webchat/internal/wording"
)

// input is the raw input of a call, whose fields have other names with each agent.
type input struct {
	fields map[string]any // by their names in lower case, without "_" and "-"
	odd    bool           // a part of it could not be read
}

// The names of fields, as the agents' tools and those of their MCP servers have them.
var (
	pathFields = fieldSet(
		`path paths file files file_path file_paths file_name file_names absolute_path abs_path relative_path dir dirs dir_path directory
		directories folder root source sources source_path src destination destination_path dest dst target target_path target_file target_directory
		from from_path to to_path old_path new_path move_path notebook_path output_path`)
	commandFields = fieldSet(`command commands cmd command_line shell_command script argv`)
	folderFields  = fieldSet(`cwd workdir working_directory work_dir`)
	urlFields     = fieldSet(`url urls uri`)
	patternFields = fieldSet(`pattern regex regexp query`)
	globFields    = fieldSet(`glob include`)
	patchFields   = fieldSet(`patch patch_text diff unified_diff input`)
	leftOutFields = fieldSet(`exclude excludes`) // what a search does not look at
)

func fieldSet(names string) map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields(names) {
		set[plainField(n)] = true
	}
	return set
}

var withoutJoints = strings.NewReplacer("_", "", "-", "")

func plainField(name string) string { return withoutJoints.Replace(strings.ToLower(name)) }

// inputOf reads a raw input. One that is missing has no fields; two fields of one name leave it
// odd.
func inputOf(raw json.RawMessage) (in input) {
	var fields map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &fields) != nil {
		in.odd = true
	}
	in.fields = map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		plain, v := plainField(name), fields[name]
		if other, twice := in.fields[plain]; twice {
			in.odd, v = true, []any{other, v}
		}
		in.fields[plain] = v
	}
	return in
}

// texts are the texts in the fields of a set, sorted by the fields' names.
func (in *input) texts(set map[string]bool) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(in.fields)) {
		if set[name] {
			all = append(all, in.textsOf(in.fields[name])...)
		}
	}
	return all
}

func (in *input) textsOf(v any) (all []string) {
	switch v := v.(type) {
	case nil:
	case string:
		if v != "" {
			all = []string{v}
		}
	case []any:
		for _, value := range v {
			all = append(all, in.textsOf(value)...)
		}
	default:
		in.odd = true
	}
	return all
}

// command is the command of the input, whole; empty if it has none. What stands in several fields
// has to be the same.
func (in *input) command() string {
	command := ""
	for _, name := range slices.Sorted(maps.Keys(in.fields)) {
		if !commandFields[name] {
			continue
		}
		next := ""
		words := in.textsOf(in.fields[name])
		switch list := in.fields[name].(type) {
		case []any:
			if name == "commands" { // a list of whole commands
				next = strings.Join(words, "\n")
				break
			}
			next = wording.CommandLine(words...)
		case string:
			next = list
		}
		switch {
		case next == "":
		case command == "":
			command = next
		case next != command:
			in.odd, command = true, command+"\n"+next
		}
	}
	if rest := in.textsOf(in.fields["args"]); command != "" && len(rest) > 0 {
		command += " " + wording.CommandLine(rest...)
	}
	return command
}

// paths are all paths of the input, at any depth: in fields that hold one, as the names in a map of
// changes, and in the text of a patch. Those in a diff come apart, since it may name the files in a
// way of its own.
func (in *input) paths() (paths, diffed []string) {
	var walk func(v any, isPath bool)
	walk = func(v any, isPath bool) {
		switch v := v.(type) {
		case map[string]any:
			in.odd = in.odd || isPath && len(v) > 0 && !namesPath(v)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				n := plainField(name)
				text, isText := v[name].(string)
				changes, isMap := v[name].(map[string]any)
				switch {
				case n == "changes" && isMap:
					paths = append(paths, slices.Sorted(maps.Keys(changes))...)
				case isText && patchFields[n]:
					in, of := patched(text)
					paths, diffed = append(paths, in...), append(diffed, of...)
				}
				walk(v[name], pathFields[n])
			}
		case []any:
			for _, value := range v {
				walk(value, isPath)
			}
		case string:
			if isPath && v != "" {
				paths = append(paths, v)
			}
		case nil:
		default:
			in.odd = in.odd || isPath
		}
	}
	walk(map[string]any(in.fields), false)
	return paths, diffed
}

// lists reports whether the input has a list of texts, at any depth, in a field that is of none of
// the sets: they may be more paths.
func (in *input) lists(known ...map[string]bool) bool {
	var found func(v any, isKnown bool) bool
	found = func(v any, isKnown bool) bool {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				n := plainField(name)
				if found(value, slices.ContainsFunc(known, func(set map[string]bool) bool { return set[n] })) {
					return true
				}
			}
		case []any:
			return slices.ContainsFunc(v, func(value any) bool {
				text, _ := value.(string)
				return text != "" && !isKnown || found(value, isKnown)
			})
		}
		return false
	}
	return found(map[string]any(in.fields), false)
}

// namesPath reports whether a field of a map is one that holds a path.
func namesPath(fields map[string]any) bool {
	for name := range fields {
		if pathFields[plainField(name)] {
			return true
		}
	}
	return false
}

var (
	patchFile = regexp.MustCompile(
		`(?m)^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\r?$`)
	diffFile = regexp.MustCompile(
		`(?m)^(?:Index: |rename from |rename to |copy from |copy to )(.+?)\r?$`)
	diffHead = regexp.MustCompile(`(?m)^--- (.+?)\r?\n\+\+\+ (.+?)\r?$`)
	diffGit  = regexp.MustCompile(`(?m)^diff --git (?:a/)?(.+) (?:b/)?(.+?)\r?$`)
)

// patched are the files that a patch names in the words of apply_patch, and those that it names as
// a diff. A line of a file's text that looks like a head adds a file, and hides none.
func patched(text string) (files, diffed []string) {
	for _, m := range patchFile.FindAllStringSubmatch(text, -1) {
		files = append(files, m[1])
	}
	for _, m := range diffFile.FindAllStringSubmatch(text, -1) {
		diffed = append(diffed, m[1])
	}
	for _, re := range []*regexp.Regexp{diffHead, diffGit} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			for _, name := range m[1:] {
				name, _, _ = strings.Cut(name, "\t") // what follows is a time
				if name != "/dev/null" && name != "a/dev/null" && name != "b/dev/null" && name != "dev/null" {
					diffed = append(diffed, name)
				}
			}
		}
	}
	return files, diffed
}

// names reports whether a diff's name of a file is that of one of the files, which are absolute: as
// it is, or without git's prefix and the slash before it.
func (w workspace) names(diffed string, files map[string]bool) bool {
	for _, prefix := range []string{"", "a/", "b/"} {
		rest, ok := strings.CutPrefix(diffed, prefix)
		if ok && (files[w.absolute(rest)] || files[filepath.Clean("/"+rest)]) {
			return true
		}
	}
	return false
}

// workspace is the folder in which an agent works.
type workspace string

// absolute is the path of a file that an agent names.
func (w workspace) absolute(path string) string { return convo.In(string(w), path) }

// readable reports whether a path is one for all programs, and no address.
func readable(path string) bool {
	return utf8.ValidString(path) && !strings.Contains(path, "\x00") && !strings.Contains(path, "://")
}
