package tokens

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Counting by pieces must not be seen: the same number as encoding everything at once.
func TestPiecesEqualWhole(t *testing.T) {
	words := []string{"func", "return", "x", "42", "Žluťoučký", "日本語", "\n", "\t", "(", "});", "a_b",
		"don't", "://", "  ", "\r\n"}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var b strings.Builder
		for b.Len() < pieceLimit+8<<10 {
			b.WriteString(words[r.IntN(len(words))])
			if r.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		c, _ := codec()
		want, err := c.Count(b.String())
		if err != nil {
			t.Fatal(err)
		}
		if n, exact := Count(b.String()); n != want || !exact {
			t.Fatalf("Count = %d, %v, want %d, true", n, exact, want)
		}
	})
}

// The texts that make encoders slow come to an end, in pieces like any other text; the benchmark
// measures how fast.
func TestPathological(t *testing.T) {
	for name, s := range hostile(6 * pieceLimit) {
		n, exact := Count(s)
		if n <= 0 || n > len(s) || !exact {
			t.Errorf("%s: Count = %d, %v", name, n, exact)
		}
	}
	if n, exact := Count(strings.Repeat("\n", ExactLimit)); n <= 0 || !exact {
		t.Errorf("the longest text that is counted whole: %d, %v", n, exact)
	}
}
