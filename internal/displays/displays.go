// Package displays is two tables: the tools that show something, and the kinds of what they show.
// What offers, calls, draws or names one of them takes that from here: agents and MCP clients, the
// embedded agent, the page and, through the page, its ES modules.
package displays

import (
	"path"
	"slices"
	"strings"
)

// Names of the tools.
const (
	RenderFile   = "render_file_contents"
	RunCommand   = "run_and_display"
	DisplayImage = "display_image"
	ShowInput    = "show_input"
	ShowChange   = "show_change"
	ShowResult   = "show_result"
	ShowHeld     = "show_held"
)

// Tool is a tool that shows something.
type Tool struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // of what it shows
	Own  bool   `json:"-"`    // the user's alone: no model is offered it

	// What the tool costs a model in every call: short is a feature, and its bound is a test.
	About      string `json:"-"` // to a model
	Parameters string `json:"-"` // a JSON schema

	Title string `json:"-"` // to users of other programs, by MCP
	Lent  string `json:"-"` // to their models. One program offers a tool only if this says "workspace"

	// the verb of its row, where it has no card: Read or Ran
	Row string `json:"-"`
	// it does something, so that repeating it is asked about
	Acts    bool    `json:"acts,omitempty"`
	Rereads bool    `json:"-"`                 // what it shows can be read again
	Logged  bool    `json:"-"`                 // what it shows is in the log
	Files   string  `json:"files,omitempty"`   // endings of the names of files that it shows best
	Command Command `json:"command,omitzero"`  // in the composer
	Asks    string  `json:"asks,omitempty"`    // what the user is asked before it is repeated
	Again   string  `json:"repeats,omitempty"` // the button of that
}

// Command is how a user calls a tool in the composer.
type Command struct {
	Name string `json:"name"` // with its slash
	Hint string `json:"hint"` // what follows it
	What string `json:"what"`
	Icon string `json:"icon"`
	End  string `json:"end"`
	// what follows is this argument; range: a path, and perhaps lines of it
	Takes string `json:"takes"`
}

// Tools are all of them, in the order in which they are offered.
var Tools = []Tool{
	{Name: RenderFile, Kind: File, Row: "Read", Rereads: true,
		About: "Show a file to the user. You get a confirmation, not the content.",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"},"startLine":{"type":"integer"},"endLine":{"type":"integer"},` +
			`"highlight":{"type":"string","description":"language"}},"required":["path"]}`,
		Title: "Show a file",
		Lent: "Show (open, view) a workspace file to the user. You get a confirmation, not the " +
			"content.",
		Command: Command{"/show", "PATH", "a file, a folder or a picture", "file", "path", "range"}},
	{Name: RunCommand, Kind: Terminal, Row: "Ran", Acts: true,
		About: "Run a shell command and show its output to the user. You get the exit code, not " +
			"the output.",
		Parameters: `{"type":"object","properties":{"command":{"type":"string"},"cwd":{"type":"string"}},"required":["command"]}`,
		Title:      "Run a command",
		Lent: "Run a workspace shell command (test, build) and show the user its output. You get " +
			"the exit code only.",
		Command: Command{"/run", "COMMAND", "a command, live", "term", "!", "command"},
		Asks:    "Run this command again?", Again: "Run it"},
	{Name: DisplayImage, Kind: Image, Row: "Read", Rereads: true,
		About:      "Show an image file to the user. You get a confirmation.",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`,
		Title:      "Show a picture",
		Lent:       "Show a workspace picture or screenshot to the user. You get a confirmation.",
		Files:      ".png .jpg .jpeg .gif .webp .avif .svg",
		Command:    Command{"/image", "PATH", "a picture", "image", "path", "path"}},
	{
		Name:       ShowInput,
		Kind:       Terminal,
		Own:        true,
		About:      "Show what webchat show is given on standard input.",
		Parameters: `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`,
	},
	{Name: ShowChange, Kind: File, Own: true, About: "Show what a session changed in a file.",
		Parameters: `{"type":"object","properties":{"path":{"type":"string"},` +
			`"from":{"type":"string","description":"the path before it was renamed"}},"required":["path"],"additionalProperties":false}`},
	{
		Name:    ShowResult,
		Kind:    Terminal,
		Own:     true,
		Rereads: true,
		Logged:  true,
		About:   "Show the whole result of a call.",
		Parameters: `{"type":"object","properties":{"toolCallId":{"type":"string"},` +
			`"from":{"type":"integer","minimum":1,"description":"the event its turn begins with"},` +
			`"name":{"type":"string","description":"what the output is called"}},` +
			`"required":["toolCallId","from","name"],"additionalProperties":false}`,
	},
	{Name: ShowHeld, Kind: File, Own: true, About: "Show what is held.",
		Parameters: `{"type":"object","properties":{` +
			`"held":{"type":"string","description":"the ids of it, with spaces"},"path":{"type":"string"}},` +
			`"required":["held"],"additionalProperties":false}`},
}

// ToolOf finds a tool, also under the longer name that an agent may give it.
func ToolOf(name string) (t Tool, ok bool) {
	for _, t := range Tools {
		rest, is := strings.CutSuffix(name, t.Name)
		if is && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "-_/")) {
			return t, true
		}
	}
	return Tool{}, false
}

// Shows is the tool that shows a file of a name best.
func Shows(file string) string {
	ending := strings.ToLower(path.Ext(file))
	i := slices.IndexFunc(Tools, func(t Tool) bool {
		return ending != "" && slices.Contains(strings.Fields(t.Files), ending)
	})
	return Tools[max(i, 0)].Name
}

// Offered are the names of the tools that a model is offered, as a sentence has them.
func Offered(joint string) string {
	var names []string
	for _, t := range Tools {
		if !t.Own {
			names = append(names, t.Name)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + joint + " " + names[last]
}

// Names of the kinds.
const (
	File     = "file"
	Terminal = "terminal"
	Image    = "image"
)

// Kind is a kind of what is shown. Its first letters are small, but for labels.
type Kind struct {
	Name  string `json:"name"`
	Icon  string `json:"icon"`
	Noun  string `json:"noun"` // what is shown, in words
	Plain bool   `json:"-"`    // its name is not a path
	Lines bool   `json:"-"`    // it is lines
	Class string `json:"-"`    // of its card
	Copy  string `json:"-"`    // the label of copying all of it
	Give  string `json:"-"`    // what the agent is let do with all of it
	Empty string `json:"-"`    // the sentence where the output is empty
	Never string `json:"-"`    // the sentence where nothing was shown
	Again string `json:"-"`    // the label of showing it again
	Later string `json:"-"`    // what showing it again does, once its output is gone
	MIME  string `json:"-"`    // what its bytes are served as; empty: what they are
	Saved string `json:"-"`    // what it is saved as; empty: by its own name
}

// Kinds are all of them.
var Kinds = []Kind{
	{
		Name:  File,
		Icon:  "file",
		Noun:  "text",
		Lines: true,
		Copy:  "Copy all",
		Give:  "read the file",
		Empty: "The file is empty",
		Never: "not shown",
		Again: "Show again",
		Later: "Showing it again reads the file as it is now.",
	},
	{
		Name:  Terminal,
		Icon:  "term",
		Noun:  "text",
		Plain: true,
		Lines: true,
		Class: "term",
		Copy:  "Copy all",
		Give:  "read the output",
		Empty: "The command printed nothing",
		Never: "not run",
		Again: "Run again",
		Later: "What a command printed is kept in memory only. The command is not run again by itself. " +
			"Running it again shows what it prints now.",
		MIME:  "text/plain; charset=utf-8",
		Saved: "output.txt",
	},
	{
		Name:  Image,
		Icon:  "image",
		Noun:  "picture",
		Class: "pict",
		Copy:  "Copy picture",
		Give:  "see the picture",
		Never: "not shown",
		Again: "Show again",
		Later: "Showing it again reads the file as it is now.",
	},
}

// KindOf is the kind of a name; what is unknown is a file.
func KindOf(name string) Kind {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.Name == name })
	return Kinds[max(i, 0)]
}

// IsKind reports whether there is a kind of a name.
func IsKind(name string) bool {
	return slices.ContainsFunc(Kinds, func(k Kind) bool { return k.Name == name })
}
