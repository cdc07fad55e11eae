package files

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
)

// TestCommand says how a project's tests are run, judging by its files, or returns "". installed
// reports whether there is a command of a name.
func TestCommand(root *os.Root, installed func(name string) bool) string {
	has := func(name string) bool {
		fi, err := root.Stat(name)
		return err == nil && fi.Mode().IsRegular()
	}
	switch {
	case has("go.mod"):
		return "go test ./..."
	case npmTests(root):
		switch {
		case has("pnpm-lock.yaml"):
			return "pnpm test"
		case has("yarn.lock"):
			return "yarn test"
		}
		return "npm test"
	case makeTests(root, "Makefile"), makeTests(root, "makefile"), makeTests(root, "GNUmakefile"):
		return "make test"
	case has("Cargo.toml"):
		return "cargo test"
	case has("pyproject.toml"), has("setup.py"), has("setup.cfg"), has("pytest.ini"), has("tox.ini"):
		return python(installed) + " -m pytest"
	case has("deno.json"), has("deno.jsonc"):
		return "deno test"
	case has("mix.exs"):
		return "mix test"
	case has("mvnw"):
		return "./mvnw test"
	case has("pom.xml"):
		return "mvn test"
	case has("gradlew"):
		return "./gradlew test"
	}
	return ""
}

func python(installed func(string) bool) string {
	if installed("python3") {
		return "python3"
	}
	return "python"
}

func npmTests(root *os.Root) bool {
	b, err := ReadSmall(root, "package.json")
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
