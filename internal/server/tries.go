package server

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"webchat/internal/page"
)

// worthSeeing are files that people look at first, in this order.
var worthSeeing = []string{"README.md", "readme.md", "README", "go.mod", "package.json", "Cargo.toml", "pyproject.toml", "Makefile"}

var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"}

// tries are examples for an empty page, of what lies at the top of a workspace:
// each works without a model. Reading one folder is all they may cost.
func tries(workspace string) []page.Try {
	entries, err := os.ReadDir(workspace)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.ContainsAny(e.Name(), " \t\n") {
			names = append(names, e.Name())
		}
	}
	var out []page.Try
	for _, name := range worthSeeing {
		if slices.Contains(names, name) {
			out = append(out, page.Try{Icon: "file", Text: "show me " + name, About: "Highlighted, with line numbers"})
			break
		}
	}
	for _, name := range names {
		if slices.Contains(pictures, strings.ToLower(filepath.Ext(name))) {
			out = append(out, page.Try{Icon: "image", Text: "/image " + name, About: "Fitted, with zoom"})
			break
		}
	}
	return append(out, page.Try{Icon: "term", Text: "!git status", About: "A live terminal you can stop"})
}

// sampleBytes is how large a file is that an empty page still shows a part of.
const sampleBytes = 32 << 10

// sample is the first file worth seeing, as the two readers of an output get it.
func sample(workspace string) *page.Sample {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	for _, name := range worthSeeing {
		st, err := root.Lstat(name)
		if err != nil || !st.Mode().IsRegular() || st.Size() == 0 || st.Size() > sampleBytes {
			continue
		}
		b, err := root.ReadFile(name)
		if err == nil && len(b) <= sampleBytes && utf8.Valid(b) && !bytes.ContainsRune(b, 0) {
			if x := page.NewSample(name, b); x != nil {
				return x
			}
		}
	}
	return nil
}
