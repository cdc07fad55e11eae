package outputs

import (
	"fmt"
	"testing"
)

// Around a gap the lines of other charsets keep their numbers.
func TestTextAroundTheGap(t *testing.T) {
	s := newStore(t, 64<<20)
	for _, charset := range []string{"utf-16le", "utf-16be", "windows-1252"} {
		w := create(t, s, Meta{Type: File, MimeType: "text/plain; charset=" + charset},
			Limits{Head: 8 << 10, Tail: 16 << 10})
		for i := 1; i <= 6_000; i++ {
			for _, c := range []byte(fmt.Sprintf("line %d\n", i)) {
				switch charset {
				case "utf-16le":
					w.Write([]byte{c, 0})
				case "utf-16be":
					w.Write([]byte{0, c})
				default:
					w.Write([]byte{c})
				}
			}
		}
		w.Complete(nil)
		o := w.Output().Text()
		g := o.Meta().Gap
		seen := 0
		for l, err := range o.Lines(t.Context(), 0, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if l.Gap == nil && l.Number != g.AfterLine && l.Number != g.AfterLine+int(g.Lines)+1 {
				if seen++; string(l.Text) != fmt.Sprintf("line %d", l.Number) {
					t.Fatalf("%s: line %d is %q", charset, l.Number, l.Text)
				}
			}
		}
		if seen < 500 || o.TotalLines() != 6_000 {
			t.Errorf("%s: %d of %d lines", charset, seen, o.TotalLines())
		}
	}
}
