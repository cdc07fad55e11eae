package offline

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"unicode"
)

// byName finds the one file a name can only mean, or else the nearest ones.
// What counts, best first: the path but for case, its end, the file's name, the
// name without its extension, any of them without dots and dashes ("go mod",
// "docker file").
func (w *workspace) byName(ctx context.Context, name string) found {
	name = strings.Trim(path.Clean(strings.ToLower(strings.ReplaceAll(name, `\`, "/"))), "/")
	if name == "" || name == "." {
		return found{}
	}
	plain := strings.TrimSuffix(name, " file")
	best, hits := len(sameness), []string(nil)
	for _, f := range w.list(ctx) {
		low := strings.ToLower(f)
		for class, same := range sameness[:min(best+1, len(sameness))] {
			if !same(name, low) && !same(plain, low) {
				continue
			}
			if class < best {
				best, hits = class, nil
			}
			hits = append(hits, f)
			break
		}
	}
	if len(hits) == 0 {
		return found{near: w.near(ctx, plain)}
	}
	// Of files that are meant alike, the one that lies highest is meant most.
	top := slices.DeleteFunc(slices.Clone(hits), func(f string) bool { return depth(f) > depth(hits[0]) })
	if len(top) == 1 {
		return found{paths: top, total: 1}
	}
	return found{near: hits[:min(len(hits), maxNear)], twins: true}
}

var sameness = []func(name, file string) bool{
	func(name, file string) bool { return file == name },
	func(name, file string) bool { return strings.HasSuffix(file, "/"+name) },
	func(name, file string) bool { return stem(path.Base(file)) == name },
	func(name, file string) bool { return squash(path.Base(file)) == squash(name) },
	func(name, file string) bool { return squash(stem(path.Base(file))) == squash(name) },
}

func depth(f string) int { return strings.Count(f, "/") }

func stem(base string) string {
	if s := strings.TrimSuffix(base, path.Ext(base)); s != "" {
		return s
	}
	return base
}

// squash drops what people leave out or change when they say a name.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// near lists the files whose names come closest to name, which is lower-case.
func (w *workspace) near(ctx context.Context, name string) []string {
	type candidate struct {
		file  string
		class int
		miss  int
	}
	var all []candidate
	want := []rune(name)
	for _, f := range w.list(ctx) {
		low := strings.ToLower(f)
		base := path.Base(low)
		d := min(distance(want, []rune(base)), distance(want, []rune(stem(base))), distance(want, []rune(low)))
		switch {
		case d <= max(1, len(want)/3):
			all = append(all, candidate{f, 0, d})
		case len(want) >= 3 && strings.Contains(low, name):
			all = append(all, candidate{f, 1, len(low) - len(name)})
		case len(want) >= 3 && subsequence(name, base):
			all = append(all, candidate{f, 2, len(base) - len(name)})
		case len(want) >= 4 && subsequence(name, low):
			all = append(all, candidate{f, 3, len(low) - len(name)})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.miss, b.miss), cmp.Compare(depth(a.file), depth(b.file)))
	})
	var near []string
	for _, c := range all[:min(len(all), maxNear)] {
		near = append(near, c.file)
	}
	return near
}

// subsequence reports whether the runes of short occur in long in that order.
func subsequence(short, long string) bool {
	rest := long
	for _, r := range short {
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+len(string(r)):]
	}
	return true
}

// maxDistance bounds the work on one pair: names this long are no near misses.
const maxDistance = 64

// distance counts the letters to insert, delete, change or swap with their
// neighbour to make b of a (optimal string alignment).
func distance(a, b []rune) int {
	if len(a) > maxDistance || len(b) > maxDistance {
		return max(len(a), len(b))
	}
	var before, last, row [maxDistance + 1]int
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(row[j-1]+1, last[j]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
