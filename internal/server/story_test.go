package server_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Stories are archives in testdata: the files of a workspace, and a file "story"
// of steps:
//
//	>>> POST /api/sessions
//	Header: value
//	{"body":1}
//	<<< 201
//	regular expression that the header or the body matches
//	! one that neither does
//	$name = regexp with (a group), to be used as $name
func TestStories(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) < 5 {
		t.Fatalf("found %d stories, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			h := newHouse(t)
			story := ""
			for _, f := range archive.Files {
				if f.Name == "story" {
					story = string(f.Data)
					continue
				}
				h.file(f.Name, string(f.Data))
			}
			tell(t, h, story)
		})
	}
}

func tell(t *testing.T, h *house, story string) {
	vars := map[string]string{}
	expand := func(s string) string {
		for k, v := range vars {
			s = strings.ReplaceAll(s, "$"+k, v)
		}
		return s
	}
	for _, step := range strings.Split("\n"+story, "\n>>> ")[1:] {
		ask, expect, ok := strings.Cut(step, "\n<<< ")
		if !ok {
			t.Fatalf("a step without an answer: %s", step)
		}
		first, rest, _ := strings.Cut(expand(ask), "\n")
		method, path, _ := strings.Cut(first, " ")
		var header []string
		for line, after, _ := strings.Cut(rest, "\n"); isHeader.MatchString(line); line, after,
			_ = strings.Cut(rest, "\n") {
			header, rest = append(header, line), after
		}
		res, body := h.do(method, path, strings.TrimRight(rest, "\n"), header...)
		var text strings.Builder
		if err := res.Header.Write(&text); err != nil {
			t.Fatal(err)
		}
		all := text.String() + "\n" + body
		status, checks, _ := strings.Cut(expect, "\n")
		if fmt.Sprint(res.StatusCode) != strings.TrimSpace(status) {
			t.Errorf("%s: %d, want %s\n%s", first, res.StatusCode, status, body)
		}
		for check := range strings.Lines(checks) {
			check = strings.TrimRight(check, "\n")
			switch {
			case check == "" || strings.HasPrefix(check, "#"):
			case strings.HasPrefix(check, "! "):
				if regexp.MustCompile("(?m)" + expand(check[2:])).MatchString(all) {
					t.Errorf("%s: found %q in\n%s", first, check[2:], all)
				}
			case strings.HasPrefix(check, "$") && strings.Contains(check, " = "):
				name, re, _ := strings.Cut(check[1:], " = ")
				m := regexp.MustCompile("(?m)" + re).FindStringSubmatch(all)
				if m == nil {
					t.Fatalf("%s: no %q in\n%s", first, re, all)
				}
				vars[name] = m[1]
			default:
				if !regexp.MustCompile("(?m)" + expand(check)).MatchString(all) {
					t.Errorf("%s: no %q in\n%s", first, expand(check), all)
				}
			}
		}
	}
}

var isHeader = regexp.MustCompile(`^[A-Z][A-Za-z-]+:`)
