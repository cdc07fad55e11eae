package displaytools_test

import (
	"encoding/json"
	"testing"

	"webchat/internal/displaytools"
	"webchat/internal/tokens"
)

// What the tools cost in each call of a model, in the form in which providers get them.
func TestDefinitionsAreCheap(t *testing.T) {
	const most = 240 - 3*12 // 12 for an argument that each tool may get
	sum := 0
	for _, s := range displaytools.Specs() {
		sent, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
			"name": s.Name, "description": s.Description, "parameters": s.Parameters}})
		if err != nil {
			t.Fatal(err)
		}
		n, exact := tokens.Count(string(sent))
		if !exact {
			t.Errorf("the tokens of %s are estimated", s.Name)
		}
		t.Logf("%s: %d tokens", s.Name, n)
		sum += n
	}
	if sum > most {
		t.Errorf("the display tools cost %d tokens in each call, over %d", sum, most)
	}
}
