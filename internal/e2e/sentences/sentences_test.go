package sentences

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is said today into the file of all sentences")

const golden = "testdata/all.txt"

func TestSentences(t *testing.T) {
	all, err := collect(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(file + "\n")
		for _, s := range all[file] {
			b.WriteString("\t" + s + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(kept), "\n"),
		strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the sentences changed; read them, then: go test ./internal/e2e/sentences -update\n%s",
			diff)
	}
}
