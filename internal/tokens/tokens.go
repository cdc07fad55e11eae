// Package tokens says what a text costs a model.
//
// Counts are in o200k_base tokens, the vocabulary of the current models of the family most backends
// speak; other vocabularies differ by a few percent, which is why a count is shown and never billed
// by.
//
// A text of up to [ExactLimit] bytes is counted exactly. A longer one is estimated from windows
// spread evenly over it, 128 KiB together, and the count is reported as inexact: show it with a
// "≈". Time is bounded whatever the text holds, because no more than ExactLimit bytes are ever
// encoded, and in pieces of at most pieceLimit bytes.
//
// The vocabulary (about 200,000 entries) is built on first use and shared from then on: a program
// that never counts pays nothing. Every function may be called from any number of goroutines.
//
//	n, exact := tokens.Count(text)
//	n, exact, err := tokens.CountReaderAt(output, output.Size())
package tokens

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// UsualWindow is how many tokens a model is assumed to hold where that is unknown.
const UsualWindow = 128_000

const (
	// ExactLimit is the longest text, in bytes, that is counted whole.
	ExactLimit = 1 << 20

	// Many small windows say more than a few large ones, and encoding makes much garbage: 80 bytes for
	// each it reads.
	windows    = 32
	windowSize = 4 << 10

	// pieceLimit bounds what the encoder sees at once. Its cost grows faster than linearly only inside
	// one unbroken run (a megabyte of one letter), so the text is handed over in pieces cut where
	// o200k always starts a token anyway.
	pieceLimit = 16 << 10
	// cutSearch is how far back from pieceLimit such a place is looked for before cutting anywhere.
	cutSearch = 4 << 10
)

var codec = sync.OnceValues(func() (tokenizer.Codec, error) {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("load the o200k_base vocabulary: %w", err)
	}
	return c, nil
})

// Count returns how many tokens s is. exact is false if s is longer than ExactLimit and was
// sampled.
func Count(s string) (n int, exact bool) {
	if len(s) <= ExactLimit {
		return count(s), true
	}
	n, exact, _ = CountReaderAt(strings.NewReader(s), int64(len(s))) // a string can be read
	return n, exact
}

// CountReaderAt counts the first size bytes of r, reading no more than ExactLimit of them: a text
// longer than that is sampled by the same windows as Count, so both give the same number. The error
// is r's, and the count is then 0.
func CountReaderAt(r io.ReaderAt, size int64) (n int, exact bool, err error) {
	if size <= ExactLimit {
		b, err := read(r, 0, int(max(size, 0)))
		if err != nil {
			return 0, false, err
		}
		return count(string(b)), true, nil
	}
	var total, seen int
	for i := range windows {
		b, err := read(r, windowStart(i, size), windowSize)
		if err != nil {
			return 0, false, err
		}
		w := trim(string(b))
		total += count(w)
		seen += len(w)
	}
	return scale(total, seen, size), false, nil
}

// Picture returns what models that read pictures in tiles of 512 pixels charge for one of
// so many pixels: it is scaled to fit 2048 × 2048, then its shorter side to 768; 85 and
// 170 for each tile. Other models charge by other rules, so it is an estimate; of a picture
// whose size is not known (0 × 0), for 1024 × 1024 pixels.
func Picture(width, height int) int {
	if width == 0 || height == 0 {
		width, height = 1024, 1024
	}
	w, h := float64(width), float64(height)
	if m := max(w, h); m > 2048 {
		w, h = w*2048/m, h*2048/m
	}
	if m := min(w, h); m > 768 {
		w, h = w*768/m, h*768/m
	}
	tiles := func(side float64) int { return max(1, (int(side)+511)/512) }
	return 85 + 170*tiles(w)*tiles(h)
}

func read(r io.ReaderAt, off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if got, err := r.ReadAt(b, off); got < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("count tokens: read %d bytes at %d: %w", n, off, err)
	}
	return b, nil
}

// windowStart spreads the windows from the first byte to the last.
func windowStart(i int, size int64) int64 {
	return int64(float64(size-windowSize) * float64(i) / float64(windows-1))
}

// scale extends the count of the sample to the whole.
func scale(tokens, seen int, size int64) int {
	if seen == 0 {
		return 0
	}
	return int(math.Round(float64(tokens) / float64(seen) * float64(size)))
}

// trim drops the halves of characters a window cut through.
func trim(s string) string {
	for i := 0; i < utf8.UTFMax-1 && len(s) > 0 && !utf8.RuneStart(s[0]); i++ {
		s = s[1:]
	}
	for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
		if utf8.RuneStart(s[len(s)-i]) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				s = s[:len(s)-i]
			}
			break
		}
	}
	return s
}

func count(s string) int {
	c, err := codec()
	if err != nil {
		// The vocabulary is compiled in: this cannot happen, and an estimate is better than a page that
		// fails.
		return (len(s) + 3) / 4
	}
	total := 0
	for len(s) > 0 {
		piece := s[:cut(s)]
		s = s[len(piece):]
		n, err := c.Count(piece)
		if err != nil {
			n = (len(piece) + 3) / 4
		}
		total += n
	}
	return total
}

// cut returns where the next piece of s ends: after a letter or digit that is followed by a space
// and a letter, which o200k always splits, so that counting by pieces equals counting the whole; in
// text without such a place, at a character.
func cut(s string) int {
	if len(s) <= pieceLimit {
		return len(s)
	}
	for i := pieceLimit; i > pieceLimit-cutSearch; i-- {
		if s[i] == ' ' && alnum(s[i-1]) && alpha(s[i+1]) {
			return i
		}
	}
	for i := pieceLimit; i > pieceLimit-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return pieceLimit
}

func alpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func alnum(c byte) bool { return alpha(c) || '0' <= c && c <= '9' }
