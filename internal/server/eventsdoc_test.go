package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"webchat/internal/event"
	"webchat/internal/guard"
)

// docs is where the page for authors of clients is. WEBCHAT_UPDATE_DOCS=1 writes it.
var docs = filepath.Join("..", "..", "docs")

// meaning is, for each event of the dialect, what of ours it is made of.
var meaning = map[dialectType]string{
	"session_start":      "`session.start`, `session.resume`",
	"session_end":        "`session.shutdown`",
	"turn_start":         "`turn.start`; `assistant.turn_start` for each further iteration",
	"message_update":     "`assistant.message_delta`, `assistant.message`",
	"tool_start":         "`tool.execution_start`",
	"tool_end":           "`tool.execution_complete`",
	"permission_request": "`permission.requested`",
	"hook_invoked":       "`hook.end`",
	"error":              "`session.error`",
}

// fieldsOf lists the JSON fields of a struct with their types.
func fieldsOf(t reflect.Type, typeOf func(reflect.Type) string) (all []string) {
	for f := range schemaFields(t) {
		mark := ""
		if f.Optional {
			mark = "?"
		}
		all = append(all, f.JSON+mark+": "+typeOf(f.Type))
	}
	return all
}

// typeScript is how a Go type travels, in TypeScript.
func typeScript(t reflect.Type) string {
	if values, ok := enums[t]; ok {
		var all []string
		for _, v := range values {
			all = append(all, fmt.Sprintf("%q", fmt.Sprint(v)))
		}
		return strings.Join(all, " | ")
	}
	switch t {
	case reflect.TypeFor[event.Time]():
		return "string"
	case reflect.TypeFor[json.RawMessage]():
		return "unknown"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeScript(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string" // base64
		}
		return "(" + typeScript(t.Elem()) + ")[]"
	case reflect.Map:
		return "Record<string, " + typeScript(t.Elem()) + ">"
	case reflect.Struct:
		return "{ " + strings.Join(fieldsOf(t, typeScript), "; ") + " }"
	case reflect.Interface:
		return "unknown"
	}
	return "number"
}

func typesPage() string {
	var b strings.Builder
	b.WriteString(
		"// The events of webchat, made from its code. Backends may add fields to the data of ours.\n\n")
	b.WriteString(
		"export interface Envelope<T extends string, D> { id: string; timestamp: string; parentId: " +
			"string | null; ephemeral?: true; type: T; data: D }\n")
	b.WriteString(
		"export interface AutohandEnvelope<T extends string, D> { id: string; timestamp: string; type: " +
			"T; data: D }\n\nexport type WebchatEvent =\n")
	for _, d := range event.Known() {
		fmt.Fprintf(&b, "  | Envelope<%q, %s>\n", event.TypeOf(d), typeScript(reflect.TypeOf(d)))
	}
	b.WriteString("\n// With ?dialect=autohand.\nexport type AutohandEvent =\n")
	known := dialectTypes
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "  | AutohandEnvelope<%q, %s>\n", name, typeScript(reflect.TypeOf(known[name])))
	}
	return b.String()
}

// clientRoutes are the paths that the page describes.
var clientRoutes = regexp.MustCompile(
	`^/api/(backends|models|sessions|stream|outputs|permissions|hooks|openapi)`)

func eventsPage(routes []route) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("| route | body | query | does |\n| --- | --- | --- | --- |\n")
	for _, r := range routes {
		if !clientRoutes.MatchString(r.pattern) {
			continue
		}
		in := ""
		if t := reflect.TypeOf(r.in); t != nil && t.Kind() == reflect.Struct {
			in = "`{" + strings.Join(fieldsOf(t, typeScript), ", ") + "}`"
		}
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", r.method, r.pattern, cell(in), cell(r.query),
			cell(r.about))
	}
	b.WriteString(
		"\n## The two vocabularies\n\n| `?dialect=autohand` | its data | made of |\n| --- | --- | " +
			"--- |\n")
	known := dialectTypes
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", name,
			cell(strings.Join(fieldsOf(reflect.TypeOf(known[name]), typeScript), ", ")), meaning[name])
	}
	b.WriteString("\n| webchat's own | logged | its data |\n| --- | --- | --- |\n")
	for _, d := range event.Known() {
		logged := ""
		if event.Logged(d) {
			logged = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", event.TypeOf(d), logged,
			cell(strings.Join(fieldsOf(reflect.TypeOf(d), typeScript), ", ")))
	}
	b.WriteString(promises)
	for _, r := range shown {
		fmt.Fprintf(&b, "| %s | %s | `%s` in `%s` |\n", r.what, r.here, r.test, r.room)
	}
	return b.String()
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func TestEventsPage(t *testing.T) {
	p := wire(Config{Guard: &guard.Guard{}}, nil)
	for name, want := range map[string]string{"events.md": eventsPage(p.routes()),
		filepath.Join("examples", "events.ts"): typesPage()} {
		file := filepath.Join(docs, name)
		if os.Getenv("WEBCHAT_UPDATE_DOCS") != "" {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the code says; WEBCHAT_UPDATE_DOCS=1 go test ./internal/server -run "+
				"TestEventsPage writes it", name)
		}
	}
	for name := range dialectTypes {
		if meaning[name] == "" {
			t.Errorf("the page does not say what %s is made of", name)
		}
	}
}

// The tests that the page names exist.
func TestEventsPageNamesTests(t *testing.T) {
	for _, r := range shown {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(r.room), "*"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			script, isScript := strings.CutPrefix(r.test, "script ")
			found = found || isScript && filepath.Base(file) == script+".txt" ||
				strings.Contains(string(text), "func "+r.test+"(")
		}
		if !found {
			t.Errorf("%s: there is no %s in %s", r.what, r.test, r.room)
		}
	}
}

// The page describes each event and field of the documents: those that it calls the same
// have these fields here, and no event that has one of their names is left out.
func TestEventsPageTellsOfEachField(t *testing.T) {
	fields := map[string][]string{}
	add := func(name string, data any) {
		for f := range schemaFields(reflect.TypeOf(data)) {
			fields[name] = append(fields[name], f.JSON)
		}
	}
	for name, data := range dialectTypes {
		add(string(name), data)
	}
	for _, d := range event.Known() {
		add(string(event.TypeOf(d)), d)
	}
	row := regexp.MustCompile("^(Autohand|Copilot): (`.*)$")
	one := regexp.MustCompile("`([a-z_]+(?:\\.[a-z_]+)?)(?: \\{([^}]*)\\})?`")
	told := map[string]bool{}
	for _, r := range shown {
		m := row.FindStringSubmatch(r.what)
		if m == nil {
			continue
		}
		for _, e := range one.FindAllStringSubmatch(m[2], -1) {
			told[e[1]] = true
			if !strings.HasPrefix(r.here, "the same,") && !strings.HasPrefix(r.here, "the same;") &&
				r.here != "the same" && !strings.HasPrefix(r.here, "the dialect's") {
				continue
			}
			for field := range strings.SplitSeq(e[2], ", ") {
				if field != "" && !slices.Contains(fields[e[1]], field) &&
					!strings.Contains(r.here, "`"+field+"`") {
					t.Errorf("%s has no field %s here, and the page does not say where it is", e[1], field)
				}
			}
		}
	}
	for name := range dialectTypes {
		if !told[string(name)] {
			t.Errorf("the page leaves out %s of the dialect", name)
		}
	}
	// What is webchat's own and in none of the documents.
	own := regexp.MustCompile(
		`^(turn|task|stream|output|sandbox|budget|file|worktree)\.|^session\.(changed|budget_changed|worktree|rewound|branched|damaged|todos_changed|mode_changed)$|^user\.message_withdrawn$|^assistant\.message_discarded$|^permission\.revoked$`)
	for _, d := range event.Known() {
		if name := string(event.TypeOf(d)); !told[name] && !own.MatchString(name) {
			t.Errorf("the page leaves out %s", name)
		}
	}
}
