package mcp

import (
	"strings"
	"testing"
)

// The Autohand CLI offers its model a tool of an MCP server only if a word of its description, of
// five letters or more, is in the conversation. These are in what the CLI writes around every
// prompt.
func TestLentToolsAreSelected(t *testing.T) {
	for _, tool := range lentTools() {
		selected := false
		for _, word := range []string{"workspace", "instruction", "options"} {
			selected = selected || strings.Contains(strings.ToLower(tool.Description), word)
		}
		if !selected {
			t.Errorf("the description of %s has no word that the Autohand CLI always selects: %s", tool.Name, tool.Description)
		}
	}
}
