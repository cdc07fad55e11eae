package mcp

import (
	"encoding/json"
	"testing"

	"webchat/internal/tokens"
)

// What the lent tools cost in each call of a model, in the form in which agents pass them on; see
// the same test of package displaytools.
func TestLentDefinitionsAreCheap(t *testing.T) {
	const most = 240 - 3*12
	sum := 0
	for _, lent := range lentTools() {
		tool, err := toolOf(lent)
		if err != nil {
			t.Fatal(err)
		}
		sent, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
			"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := tokens.Count(string(sent))
		t.Logf("%s: %d tokens", tool.Name, n)
		sum += n
	}
	if sum > most {
		t.Errorf("the lent tools cost %d tokens in each call, over %d", sum, most)
	}
}
