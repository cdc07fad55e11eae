package files

import (
	"cmp"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sahilm/fuzzy"
)

const (
	maxQuery = 200 // bytes
	// maxRanked is how many paths are compared closely. Of more, those that a quick look finds best
	// are.
	maxRanked = 2000
	// perCheck is how many paths are looked at between two looks at a context.
	perCheck = 1 << 16
)

// list is the known paths, the shallow ones first. It never changes.
type list struct {
	paths  []string
	folded []string // in lower case; the same string where that changes nothing
	bytes  []uint64 // which bytes each has, see mask
	bases  []uint16 // where the last name of each begins; paths are shorter than 64 KiB
}

// newList sorts paths, which belong to it.
func newList(paths []string) *list {
	type entry struct {
		path  string
		depth int
	}
	entries := make([]entry, len(paths))
	for i, p := range paths {
		entries[i] = entry{p, strings.Count(p, "/")}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.path, b.path))
	})
	l := &list{
		paths:  paths,
		folded: make([]string, len(paths)),
		bytes:  make([]uint64, len(paths)),
		bases:  make([]uint16, len(paths)),
	}
	for i, e := range entries {
		l.paths[i], l.folded[i] = e.path, strings.ToLower(e.path)
		l.bytes[i], l.bases[i] = mask(l.folded[i]), uint16(strings.LastIndexByte(l.folded[i], '/')+1)
	}
	return l
}

// size is about how many bytes the list takes.
func (l *list) size() int64 {
	const each = 2*16 + 8 + 2 // two strings, a mask, a number
	sum := int64(len(l.paths)) * each
	for i, p := range l.paths {
		if sum += int64(len(p)); l.folded[i] != p {
			sum += int64(len(l.folded[i]))
		}
	}
	return sum
}

// mask has a bit for each byte of s; some bytes share one.
func mask(s string) (m uint64) {
	for i := range len(s) {
		m |= 1 << (s[i] & 63)
	}
	return m
}

// complete picks what a person may mean by a part of a path, of what is there.
func (l *list) complete(ctx context.Context, root, q string, limit int,
	named func(string) bool) ([]string, error) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	out := []string{}
	if q != "" && filepath.IsLocal(filepath.FromSlash(q)) && writable(q) && isFile(top, q) &&
		named(q) {
		out = append(out, q)
	}
	candidates, err := l.candidates(ctx, q, 4*limit)
	if err != nil {
		return nil, err
	}
	for _, p := range candidates[:min(len(candidates), 4*limit)] {
		if len(out) >= limit {
			break
		}
		if p != q && isFile(top, p) && named(p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// isFile reports whether there is a regular file, reached without leaving top.
func isFile(top *os.Root, name string) bool {
	info, err := top.Lstat(filepath.FromSlash(name))
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		info, err = top.Stat(filepath.FromSlash(name))
	}
	return err == nil && info.Mode().IsRegular()
}

// candidates are the paths that q may mean, the likeliest first.
func (l *list) candidates(ctx context.Context, q string, most int) ([]string, error) {
	if q == "" {
		return l.paths[:min(most, len(l.paths))], nil
	}
	low := strings.ToLower(q)
	indexes, err := l.quick(ctx, low)
	if err != nil {
		return nil, err
	}
	likely := make([]string, len(indexes))
	for i, at := range indexes {
		likely[i] = l.paths[at]
	}
	matches := fuzzy.Find(q, likely)
	// Letters strewn over separators score higher than a name typed whole; of two such names the
	// one nearer to the top is meant.
	kinds := make([]uint64, len(likely))
	for i, at := range indexes {
		c, _ := cost(l.folded[at], int(l.bases[at]), low, math.MaxUint64)
		if kinds[i] = c; c >= 2<<16 {
			kinds[i] = c >> 16 << 16
		}
	}
	slices.SortStableFunc(matches, func(a, b fuzzy.Match) int {
		return cmp.Compare(kinds[a.Index], kinds[b.Index])
	})
	out := make([]string, len(matches))
	for i, m := range matches {
		out[i] = m.Str
	}
	return out, nil
}

// quick finds the maxRanked paths that fit q best, in the order of the list, on all processors.
func (l *list) quick(ctx context.Context, q string) ([]uint32, error) {
	parts := make([][]uint64, runtime.GOMAXPROCS(0))
	each := (len(l.paths) + len(parts) - 1) / len(parts)
	var wg sync.WaitGroup
	for n := range parts {
		wg.Go(func() {
			parts[n] = l.best(ctx, q, min(n*each, len(l.paths)), min((n+1)*each, len(l.paths)))
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := slices.Concat(parts...)
	slices.Sort(all)
	out := make([]uint32, min(len(all), maxRanked))
	for i := range out {
		out[i] = uint32(all[i])
	}
	slices.Sort(out)
	return out, nil
}

// best finds paths from one index up to another that fit q, at least the best maxRanked, as costs
// with indexes. It stops when ctx ends.
func (l *list) best(ctx context.Context, q string, from, to int) (best []uint64) {
	wants, worst := mask(q), uint64(math.MaxUint64)
	for i := from; i < to; i++ {
		if i%perCheck == 0 && ctx.Err() != nil {
			return nil
		}
		if l.bytes[i]&wants != wants {
			continue
		}
		c, ok := cost(l.folded[i], int(l.bases[i]), q, worst)
		if !ok {
			continue
		}
		if best = append(best, c<<32|uint64(i)); len(best) == 2*maxRanked {
			slices.Sort(best)
			best = best[:maxRanked]
			worst = best[maxRanked-1] >> 32
		}
	}
	return best
}

// cost says how far a path is from q: how they match first, then how long the path is. Both are in
// lower case; the path's last name begins at base. What does not fit, or not better than worst, is
// not looked at to its end.
func cost(p string, base int, q string, worst uint64) (uint64, bool) {
	kind, size := uint64(4), uint64(len(p))
	switch at := strings.Index(p[base:], q); {
	case at == 0 && len(p) == len(q):
		kind = 0
	case at == 0 && len(p)-base == len(q):
		kind = 1
	case at == 0:
		kind = 2
	case at > 0:
		kind = 3
	case p == q: // with its folder
		kind = 0
	case 4<<16|size >= worst:
		return 0, false
	case !strings.Contains(p[:base+min(len(q)-1, len(p)-base)], q):
		kind = 5
	}
	c := kind<<16 | size
	return c, c < worst && (kind < 5 || strewn(p, q))
}

// strewn reports whether p has the bytes of q in their order.
func strewn(p, q string) bool {
	for i := range len(q) {
		at := strings.IndexByte(p, q[i])
		if at < 0 {
			return false
		}
		p = p[at+1:]
	}
	return true
}
