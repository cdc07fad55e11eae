package files

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// TestCommand says how a project's tests are run, judging by its files, or returns "". installed
// reports whether there is a command of a name.
func TestCommand(root *os.Root, installed func(name string) bool) string {
	has := func(name string) bool {
		fi, err := root.Stat(name)
		return err == nil && fi.Mode().IsRegular()
	}
	for _, p := range projects {
		if !slices.ContainsFunc(p.files, has) || p.tests != nil && !p.tests(root, p.files[0]) {
			continue
		}
		command := p.command
		switch {
		case command == "npm test" && has("pnpm-lock.yaml"):
			command = "pnpm test"
		case command == "npm test" && has("yarn.lock"):
			command = "yarn test"
		case installed("python3"):
			command = strings.Replace(command, "python ", "python3 ", 1)
		}
		return command
	}
	return ""
}

// Readme returns the name of a folder's readme, or "".
func Readme(root *os.Root) string {
	list, err := fs.Glob(root.FS(), "[Rr][Ee][Aa][Dd][Mm][Ee]*")
	if err != nil {
		return ""
	}
	for _, name := range list {
		base, _, _ := strings.Cut(name, ".")
		if fi, err := root.Stat(name); err == nil && fi.Mode().IsRegular() && len(base) == len("readme") {
			return name
		}
	}
	return ""
}

// projects are the files that make a project one of a kind, and the command for its tests. The
// first that fits counts.
var projects = []struct {
	command string
	files   []string
	tests   func(root *os.Root, name string) bool // whether its first file has tests; nil: it has
}{
	{"go test ./...", []string{"go.mod"}, nil},
	{"npm test", []string{"package.json"}, npmTests},
	{"make test", []string{"Makefile"}, makeTests},
	{"make test", []string{"makefile"}, makeTests},
	{"make test", []string{"GNUmakefile"}, makeTests},
	{"cargo test", []string{"Cargo.toml"}, nil},
	{"python -m pytest", []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini"},
		nil},
	{"deno test", []string{"deno.json", "deno.jsonc"}, nil},
	{"mix test", []string{"mix.exs"}, nil},
	{"./mvnw test", []string{"mvnw"}, nil},
	{"mvn test", []string{"pom.xml"}, nil},
	{"./gradlew test", []string{"gradlew"}, nil},
}

func npmTests(root *os.Root, name string) bool {
	b, err := ReadSmall(root, name)
	if err != nil {
		return false
	}
	var p struct{ Scripts struct{ Test string } }
	return json.Unmarshal(b, &p) == nil && p.Scripts.Test != ""
}

var testTarget = regexp.MustCompile(`(?m)^(?:[\w.-]+\s+)*test(?:\s+[\w.-]+)*\s*::?(?:[^=]|$)`)

func makeTests(root *os.Root, name string) bool {
	b, err := ReadSmall(root, name)
	return err == nil && testTarget.Match(b)
}

// ReadSmall reads a regular file of at most 256 KiB.
func ReadSmall(root *os.Root, name string) ([]byte, error) {
	const limit = 256 << 10
	if fi, err := root.Stat(name); err != nil {
		return nil, err
	} else if !fi.Mode().IsRegular() || fi.Size() > limit { // a FIFO would block
		return nil, errors.ErrUnsupported
	}
	f, err := root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
