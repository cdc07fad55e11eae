package wording

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// longestName bounds the work on one pair of names, in characters: longer ones are not near
// misses.
const longestName = 64

// Nearest returns the files, at most so many, whose names are most like name: those of the
// fewest letters to insert, delete or replace in the last name, with or without its
// extension, or in the whole path; among these the ones that lie highest. Case is ignored.
func Nearest(name string, files iter.Seq[string], most int) []string {
	type candidate struct {
		file string
		away int
	}
	want := strings.ToLower(strings.Trim(path.Clean(name), "/"))
	length := utf8.RuneCountInString(want)
	if length > longestName {
		return nil
	}
	base := path.Base(want)
	var found []candidate
	for file := range files {
		low := strings.ToLower(file)
		is := path.Base(low)
		away := min(distance(want, low), distance(base, is))
		if away > 0 {
			away = min(away, 1+distance(base, strings.TrimSuffix(is, path.Ext(is))))
		}
		if away <= utf8.RuneCountInString(base)/3 {
			found = append(found, candidate{file, away})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.away, b.away),
			cmp.Compare(strings.Count(a.file, "/"), strings.Count(b.file, "/")),
			cmp.Compare(a.file, b.file))
	})
	names := make([]string, 0, most)
	for _, c := range found[:min(most, len(found))] {
		names = append(names, c.file)
	}
	return names
}

func distance(a, b string) int {
	if n := utf8.RuneCountInString(b); n > longestName {
		return n
	}
	return levenshtein.ComputeDistance(a, b)
}
