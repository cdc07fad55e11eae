package hostile

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestCorpus(t *testing.T) {
	const sink = "http://127.0.0.1:9"
	all := Corpus(sink)
	count := map[Kind]int{}
	seen := map[string]bool{}
	for _, c := range all {
		count[c.Kind]++
		if seen[string(c.Kind)+c.Name] {
			t.Errorf("%s %s is there twice", c.Kind, c.Name)
		}
		seen[string(c.Kind)+c.Name] = true
		plain := bytes.ReplaceAll(c.Body, []byte{0}, nil)
		if !bytes.Contains(plain, []byte("127.0.0.1:9/")) && !bytes.Contains(plain, []byte(Mark)) &&
			!slices.Contains([]string{"bomb.png", "actions", "clobber"}, c.Name) {
			t.Errorf("%s %s calls nobody and marks nothing: %q", c.Kind, c.Name, c.Body)
		}
		for _, left := range []string{"HOME", "BARE", "B64", "JS"} {
			if strings.Contains(string(plain), left) && c.Name != "osc52.txt" {
				t.Errorf("%s %s still has %s", c.Kind, c.Name, left)
			}
		}
		if c.Row == "" || c.Name == "" {
			t.Errorf("a case without name or row: %+v", c)
		}
	}
	if len(all) < 100 || count[File] < 25 || count[Picture] < 15 || count[Terminal] < 12 ||
		count[Answer] < 40 {
		t.Errorf("the corpus has shrunk: %v", count)
	}
	if len(Of(Answer, sink)) != count[Answer] {
		t.Error("Of does not choose by kind")
	}
}
