package views

import (
	"regexp"
	"strconv"
	"strings"
)

// parseFilters makes a test of filters that all must hold. A filter is "column:test:value", column
// being a number from 1, or a text that any cell has.
func parseFilters(filters []string, columns int) (func(cells []string) bool, error) {
	var all []func([]string) bool
	for _, f := range filters {
		number, rest, ok := strings.Cut(f, ":")
		name, value, tested := strings.Cut(rest, ":")
		column, err := strconv.Atoi(number)
		if !ok || !tested || err != nil {
			all = append(all, anyHas(f))
			continue
		}
		test := parseTest(name, value)
		if test == nil || column < 1 || column > columns {
			return nil, refuse("bad_filter",
				"Give a filter as a text, or as column:test:value with one of the tests is, not, has, "+
					"starts, ends, above, below, empty, filled, matches.")
		}
		all = append(all, func(cells []string) bool {
			return test(cell(cells, column))
		})
	}
	return func(cells []string) bool {
		for _, f := range all {
			if !f(cells) {
				return false
			}
		}
		return true
	}, nil
}

// cell is the cell of a column from 1; empty if the row is shorter.
func cell(cells []string, column int) string {
	if column > len(cells) {
		return ""
	}
	return cells[column-1]
}

func anyHas(text string) func([]string) bool {
	lower := strings.ToLower(text)
	return func(cells []string) bool {
		for _, c := range cells {
			if strings.Contains(strings.ToLower(c), lower) {
				return true
			}
		}
		return false
	}
}

// parseTest makes a test of one cell; nil if there is no such test. Letters compare in either case,
// numbers as such.
func parseTest(name, value string) func(c string) bool {
	lower := strings.ToLower(value)
	limit, isNumber := numeral(value)
	compare := func(c string) (int, bool) {
		f, ok := numeral(c)
		switch {
		case ok && isNumber && f < limit:
			return -1, true
		case ok && isNumber && f > limit:
			return 1, true
		case ok && isNumber:
			return 0, true
		}
		return strings.Compare(strings.ToLower(c), lower), len(c) > 0 && !isNumber
	}
	is := func(c string) bool {
		n, ok := compare(c)
		return ok && n == 0 || strings.ToLower(c) == lower
	}
	switch name {
	case "is":
		return is
	case "not":
		return func(c string) bool { return !is(c) }
	case "has":
		return func(c string) bool { return strings.Contains(strings.ToLower(c), lower) }
	case "starts":
		return func(c string) bool { return strings.HasPrefix(strings.ToLower(c), lower) }
	case "ends":
		return func(c string) bool { return strings.HasSuffix(strings.ToLower(c), lower) }
	case "above":
		return func(c string) bool { n, ok := compare(c); return ok && n > 0 }
	case "below":
		return func(c string) bool { n, ok := compare(c); return ok && n < 0 }
	case "empty":
		return func(c string) bool { return len(c) == 0 }
	case "filled":
		return func(c string) bool { return len(c) > 0 }
	case "matches":
		re, err := regexp.Compile(value)
		if err != nil {
			return nil
		}
		return re.MatchString
	}
	return nil
}
