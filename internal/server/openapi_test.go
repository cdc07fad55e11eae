package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"webchat/internal/guard"
)

// Every route is in the published description, as any client would read it.
func TestDescriptionHasEveryRouteAndReference(t *testing.T) {
	routes := wire(Config{
		Guard:   &guard.Guard{},
		Pages:   &Pages{},
		Metrics: http.NotFoundHandler(),
		MCP:     http.NotFoundHandler(),
	}, nil).routes()
	b, err := describe(routes, "test")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	paths := doc["paths"].(map[string]any)
	for _, r := range routes {
		op, ok := paths[r.pattern].(map[string]any)[strings.ToLower(r.method)].(map[string]any)
		if !ok || op["summary"] == "" || op["x-class"] != r.class.String() {
			t.Errorf("%s %s is not described: %v", r.method, r.pattern, op)
		}
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for part := range strings.SplitSeq(string(b), `"$ref":"#/components/schemas/`) {
		name, _, _ := strings.Cut(part, `"`)
		if name != "{" && schemas[name] == nil {
			t.Errorf("a reference to %q leads nowhere", name)
		}
	}
}
