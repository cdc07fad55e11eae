package tokens

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKnownCounts(t *testing.T) {
	for text, want := range map[string]int{
		"": 0,
		"Displayed package.json to user (50 lines)": 9,
		"hello world": 2,
	} {
		if n, exact := Count(text); n != want || !exact {
			t.Errorf("Count(%q) = %d, %v, want %d, true", text, n, exact, want)
		}
	}
}

func whole(t testing.TB, s string) int {
	t.Helper()
	c, err := codec()
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Count(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSampled(t *testing.T) {
	line := "2026-11-20T10:00:00Z level=info msg=\"request served\" path=/api/outputs status=200\n"
	s := strings.Repeat(line, 3*ExactLimit/len(line))
	n, exact := Count(s)
	if exact {
		t.Fatal("3 MiB counted as exact")
	}
	want := whole(t, line) * (len(s) / len(line))
	if diff := float64(n-want) / float64(want); diff > 0.02 || diff < -0.02 {
		t.Errorf("estimate %d, true count %d: off by %.1f %%", n, want, diff*100)
	}
	m, exact, err := CountReaderAt(strings.NewReader(s), int64(len(s)))
	if m != n || exact || err != nil {
		t.Errorf("CountReaderAt = %d, %v, %v, want %d, false, nil", m, exact, err, n)
	}
	m, exact, err = CountReaderAt(strings.NewReader(line), int64(len(line)))
	if m != whole(t, line) || !exact || err != nil {
		t.Errorf("CountReaderAt of one line = %d, %v, %v", m, exact, err)
	}
}

func TestReaderErrors(t *testing.T) {
	if _, _, err := CountReaderAt(strings.NewReader("short"), 10); !errors.Is(err,
		io.ErrUnexpectedEOF) {
		t.Errorf("a reader shorter than said: %v", err)
	}
	if _, _, err := CountReaderAt(strings.NewReader("short"), 2*ExactLimit); err == nil {
		t.Error("a sampled reader shorter than said gave no error")
	}
}

func hostile(size int) map[string]string {
	return map[string]string{
		"one letter": strings.Repeat("a", size),
		"upper case": strings.Repeat("A", size),
		"spaces":     strings.Repeat(" ", size),
		"newlines":   strings.Repeat("\n", size),
		"marks":      strings.Repeat("=", size),
		"ideographs": strings.Repeat("界", size/3),
		"bytes":      strings.Repeat("\xff", size),
		"joiners":    strings.Repeat("\u200d\u0301", size/5),
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if n, _ := Count("hello world"); n != 2 {
				t.Errorf("Count = %d", n)
			}
		})
	}
	wg.Wait()
}

func TestTrim(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "\x8c界": "界", "界\xe7\x95": "界",
		"\x80\x80\x80\x80": "\x80", "é": "é"} {
		if got := trim(in); got != want {
			t.Errorf("trim(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "hello", "\xff\xfe", "界 a\r\n", strings.Repeat("a b", 9000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, exact := Count(s)
		if n < 0 || n > len(s) || !exact && len(s) <= ExactLimit || n == 0 && s != "" {
			t.Fatalf("Count(%d bytes) = %d, %v", len(s), n, exact)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	inputs := hostile(256 << 10)
	line := "2026-11-20T10:00:00Z level=info msg=\"request served\" path=/api/outputs status=200\n"
	inputs["log"] = strings.Repeat(line, 256<<10/len(line))
	Count("load")
	for name, s := range inputs {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Count(s)
			}
		})
	}
}

func TestPictureTokens(t *testing.T) {
	for _, test := range []struct {
		w, h int
		want int
	}{{100, 100, 255}, {512, 512, 255}, {1024, 1024, 765}, {2048, 4096, 1105}, {4000, 1, 85 + 4*170}} {
		if got := Picture(test.w, test.h); got != test.want {
			t.Errorf("%d × %d: %d, want %d", test.w, test.h, got, test.want)
		}
	}
}
