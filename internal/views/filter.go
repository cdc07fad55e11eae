package views

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
)

// parseFilters makes a test of filters that all must hold. A filter is "column:test:value",
// column being a number from 1, or a text that any cell has.
func parseFilters(filters []string, columns int) (func(cells [][]byte) bool, error) {
	var all []func([][]byte) bool
	for _, f := range filters {
		number, rest, ok := strings.Cut(f, ":")
		name, value, tested := strings.Cut(rest, ":")
		column, err := strconv.Atoi(number)
		if !ok || !tested || err != nil {
			all = append(all, anyHas(f))
			continue
		}
		test, err := parseTest(name, value)
		if err != nil || column < 1 || column > columns {
			return nil, refuse("bad_filter", "Give a filter as a text, or as column:test:value with one of the tests is, not, has, starts, ends, above, below, empty, filled, matches.")
		}
		all = append(all, func(cells [][]byte) bool {
			if column > len(cells) {
				return test(nil)
			}
			return test(cells[column-1])
		})
	}
	return func(cells [][]byte) bool {
		for _, f := range all {
			if !f(cells) {
				return false
			}
		}
		return true
	}, nil
}

func anyHas(text string) func([][]byte) bool {
	lower := bytes.ToLower([]byte(text))
	return func(cells [][]byte) bool {
		for _, c := range cells {
			if bytes.Contains(bytes.ToLower(c), lower) {
				return true
			}
		}
		return false
	}
}

type errTest struct{}

func (errTest) Error() string { return "no such test" }

// parseTest makes a test of one cell. Letters compare in either case, numbers as such.
func parseTest(name, value string) (func(c []byte) bool, error) {
	lower := bytes.ToLower([]byte(value))
	limit, isNumber := numeral([]byte(value))
	compare := func(c []byte) (int, bool) {
		f, ok := numeral(c)
		switch {
		case ok && isNumber && f < limit:
			return -1, true
		case ok && isNumber && f > limit:
			return 1, true
		case ok && isNumber:
			return 0, true
		}
		return bytes.Compare(bytes.ToLower(c), lower), len(c) > 0 && !isNumber
	}
	is := func(c []byte) bool {
		n, ok := compare(c)
		return ok && n == 0 || bytes.Equal(bytes.ToLower(c), lower)
	}
	switch name {
	case "is":
		return is, nil
	case "not":
		return func(c []byte) bool { return !is(c) }, nil
	case "has":
		return func(c []byte) bool { return bytes.Contains(bytes.ToLower(c), lower) }, nil
	case "starts":
		return func(c []byte) bool { return bytes.HasPrefix(bytes.ToLower(c), lower) }, nil
	case "ends":
		return func(c []byte) bool { return bytes.HasSuffix(bytes.ToLower(c), lower) }, nil
	case "above":
		return func(c []byte) bool { n, ok := compare(c); return ok && n > 0 }, nil
	case "below":
		return func(c []byte) bool { n, ok := compare(c); return ok && n < 0 }, nil
	case "empty":
		return func(c []byte) bool { return len(c) == 0 }, nil
	case "filled":
		return func(c []byte) bool { return len(c) > 0 }, nil
	case "matches":
		re, err := regexp.Compile(value)
		if err != nil {
			return nil, err
		}
		return re.Match, nil
	}
	return nil, errTest{}
}
