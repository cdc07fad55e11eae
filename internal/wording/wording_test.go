package wording

import "testing"

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1.0 kB",
		2140: "2.1 kB", 9949: "9.9 kB", 9951: "10 kB",
		999_499: "999 kB", 999_500: "1.0 MB", 2_140_000: "2.1 MB", 32_505_856: "33 MB",
		1_200_000_000: "1.2 GB", 5e15: "5000 TB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{20 << 20: "20 MiB", 1 << 20: "1 MiB", 3 << 30: "3 GiB",
		1 << 10: "1 KiB", 500: "500 bytes", 2_000_000: "2 MB", 512_000: "512 kB", 1<<20 + 1: "1.04 MB",
		0: "0 bytes"} {
		if got := Limit(n); got != want {
			t.Errorf("a limit of %d: %s, not %s", n, got, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 31_412: "31,412",
		1_234_567: "1,234,567", -1000: "−1,000"} {
		if got := Count(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for s, want := range map[string]string{"": "", "four": "four", "ééé¢": "ééé¢", "fives": "fiv…",
		"éééé\xff": "ééé…", "日本語日本": "日本語…"} {
		if got := Cut(s, 4); got != want {
			t.Errorf("%s: %s, not %s", s, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for s, want := range map[string]string{"": "", " ": "", "élan": "Élan.", "it ends.": "It ends.",
		"why?\n": "Why?", "and so on…": "And so on…"} {
		if got := Sentence(s); got != want {
			t.Errorf("%q: %q, not %q", s, got, want)
		}
	}
}
