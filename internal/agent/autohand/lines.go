package autohand

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The CLI takes each JSON file in this folder of a workspace for a tool (its source,
// toolsRegistry.ts and actionExecutor.ts): its handler is a line for a shell, in which {{name}}
// stands for an argument.
const toolsFolder = ".autohand/tools"

const (
	mostScripts = 200
	mostScript  = 64 << 10 // bytes
)

// scripts are the lines of a workspace's own tools, by their names. They are not all where there is
// more of them than is read.
func scripts(workspace string) (lines map[string]string, all bool) {
	dir := filepath.Join(workspace, filepath.FromSlash(toolsFolder))
	entries, _ := os.ReadDir(dir) // mostly there is none
	lines, all = map[string]string{}, len(entries) <= mostScripts
	for _, e := range entries[:min(len(entries), mostScripts)] {
		var tool input // by its exact names
		name := filepath.Join(dir, e.Name())
		st, err := os.Stat(name)
		if err != nil || !st.Mode().IsRegular() || filepath.Ext(name) != ".json" {
			continue
		}
		if st.Size() > mostScript {
			all = false
			continue
		}
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil || json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &tool) != nil {
			continue
		}
		called, line := strings.TrimSpace(tool.text("name")), strings.TrimSpace(tool.text("handler"))
		if was := lines[called]; was != "" && was != line {
			line = was + "\n" + line // which of the two it runs, the order of its files decides
		}
		if line != "" {
			lines[called] = line
		}
	}
	return lines, all
}

// definesKnown reports whether all tools are known that the folder defines.
func (w *workspace) definesKnown() bool {
	_, all := scripts(w.folder)
	return all
}

var blank = regexp.MustCompile(`["']?\{\{(\w+)\}\}["']?`)

// lineOf is what a shell runs for a call of one of the workspace's own tools; empty if it is none.
// The CLI read the tool when it started: where the file says something else by now, both lines
// count.
func (w *workspace) lineOf(k *call) string {
	w.mu.Lock()
	was := w.lines[k.Tool]
	w.mu.Unlock()
	all, _ := scripts(w.folder)
	now := all[k.Tool]
	if was == "" || was == now {
		return filled(now, k.Args)
	}
	if now == "" {
		return filled(was, k.Args)
	}
	return filled(was, k.Args) + "\n" + filled(now, k.Args)
}

// filled is a line with its arguments, in the quotes that the CLI puts around them.
func filled(line string, raw json.RawMessage) string {
	var args map[string]any
	_ = json.Unmarshal(raw, &args) // without them the names stay
	return blank.ReplaceAllStringFunc(line, func(found string) string {
		v, ok := args[blank.FindStringSubmatch(found)[1]]
		if !ok {
			return found
		}
		return "'" + strings.ReplaceAll(fmt.Sprint(v), "'", `'"'"'`) + "'"
	})
}
