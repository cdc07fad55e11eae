package calls

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"webchat/internal/event"
)

// Edit is a call of the agent's that changed files, as far as it reported that.
type Edit struct {
	At      int64    // the end of the call
	Seq     int64    // the event whose edits say what it changed: At, or a question about it
	File    string   // that the arguments of the call name; empty: none
	Command bool     // the call ran a command: what it printed is not an edit
	Names   []string // of files, as the edits have them
}

// EditsOf are the edits that an event reports of files.
func EditsOf(d event.Data) (edits []event.Edit) {
	switch d := d.(type) {
	case event.PermissionRequested:
		edits = d.Edits
	case event.ToolExecutionComplete:
		if d.Result != nil {
			edits = d.Result.Edits
		}
	}
	return slices.DeleteFunc(slices.Clone(edits), event.Edit.Empty)
}

// Edits are those of the log that ended at an event or later, in its order.
func (x *Index) Edits(from int64) []Edit {
	i, _ := slices.BinarySearchFunc(x.edits, from, func(e Edit, from int64) int {
		return cmp.Compare(e.At, from)
	})
	return slices.Clone(x.edits[i:])
}

// edit takes the end of a call that may have changed files.
func (x *Index) edit(e event.Entry, d event.ToolExecutionComplete, c *call, asked pending) {
	if c.Start == 0 || c.By == event.ByUser || asked.diff == 0 && !changes(c.Tool) || !d.Success ||
		d.OutputID != "" || d.Result == nil {
		return
	}
	edit, names := Edit{At: e.Seq, Seq: e.Seq, File: c.file, Command: c.shell}, asked.names
	edits := EditsOf(d)
	if d.Result.DetailedContent == "" {
		edit.Seq = asked.diff
	} else if names = nil; len(edits) > 0 {
		names = namesOf(edits)
	}
	if names == nil {
		return
	}
	edit.Names = names
	x.edits = append(x.edits, edit)
	if n := len(x.turns); n > 0 {
		x.turns[n-1].Edits++
	}
}

// namesOf are the names that edits give their files; nil if there are no edits.
func namesOf(edits []event.Edit) []string {
	if len(edits) == 0 {
		return nil
	}
	names := []string{}
	for _, e := range edits {
		for _, name := range []string{e.Old, e.New} {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// changes reports whether a tool changes files, by its name: what another one returns may look like
// a diff, too, and then is somebody's text.
func changes(tool string) bool {
	tool, _, _ = strings.Cut(strings.ToLower(tool), " ") // some agents put the file's name behind it
	return slices.ContainsFunc([]string{"edit", "write", "patch", "create", "replace", "insert",
		"delete"}, func(word string) bool {
		return strings.Contains(tool, word)
	})
}

// arguments are those of a call that say what it is about, in the words of any agent.
type arguments struct {
	Command, Cmd         json.RawMessage
	Path, File, Filename string
	FilePath             string `json:"file_path"`
	FilePath2            string `json:"filePath"`
}

func argumentsOf(raw json.RawMessage) (a arguments) {
	_ = json.Unmarshal(raw, &a) // arguments of another shape name no file
	return a
}

// command is the one that they hold, without the space around it; empty if there is none.
func (a arguments) command() (text string) {
	_ = json.Unmarshal(a.Command, &text)
	return strings.TrimSpace(text)
}

// shell reports whether they are those of a command.
func (a arguments) shell() bool {
	given := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	return given(a.Command) || given(a.Cmd)
}

// file is the one that they name.
func (a arguments) file() string {
	return cmp.Or(a.Path, a.FilePath, a.FilePath2, a.File, a.Filename)
}
