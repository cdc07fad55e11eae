package displaytools

import (
	"io"
	"os"
	"testing"
)

// THREATS 45: a file that grows faster than it is read has an end: where it ended
// when it was opened.
func TestThreat45GrowingFile(t *testing.T) {
	b := newBench(t, nil)
	f, err := os.OpenFile(b.write("log", "first\n"), os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	s := &sparse{f: f, size: st.Size()}
	if _, err := f.WriteString("second\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s); err != nil || string(got) != "first\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got := b.bytes(b.call(RenderFile, "path", "log")); got != "first\nsecond\n" {
		t.Errorf("shown afterwards: %q", got)
	}
}
