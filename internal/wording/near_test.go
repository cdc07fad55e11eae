package wording_test

import (
	"slices"
	"strings"
	"testing"

	"webchat/internal/wording"
)

func TestNearest(t *testing.T) {
	files := []string{"cmd/main.go", "internal/proc/proc.go", "README.md", "docs/README.md", "c",
		"Makefile"}
	for name, want := range map[string][]string{
		"RAEDME.md":               {"README.md", "docs/README.md"},
		"readme":                  {"README.md", "docs/README.md"},
		"porc.go":                 {"internal/proc/proc.go"},
		"cmd/man.go":              {"cmd/main.go"},
		"makfile":                 {"Makefile"},
		"x":                       nil,
		"nothing.like.it":         nil,
		strings.Repeat("m", 5000): nil,
	} {
		if got := wording.Nearest(name, slices.Values(files), 3); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}
