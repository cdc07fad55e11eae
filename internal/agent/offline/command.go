package offline

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"webchat/internal/files"
)

// builtins are the words a POSIX shell runs itself. Those that open a compound
// command count only with the word that closes it, so that "run for me the
// linter" stays talk.
var builtins = strings.Fields(`. : [ alias bg cd command echo eval exec exit export false fg getopts hash jobs kill
	printf pwd read readonly set shift source test times trap true type ulimit umask unalias unset wait`)

var windowsBuiltins = strings.Fields(`assoc call cd chdir cls copy date del dir echo erase exit md mkdir mklink move
	path popd pushd rd rem ren rmdir set time type ver vol`)

var compounds = map[string]string{"for": "done", "while": "done", "until": "done", "if": "fi", "case": "esac", "{": "}"}

var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+`)

// isCommand reports whether a shell line begins with something that can be run:
// a program, a file of the workspace, or what a shell does itself.
func (w *workspace) isCommand(line string) bool {
	line = strings.TrimSpace(line)
	for {
		cut := assignment.ReplaceAllString(line, "")
		if cut == line {
			break
		}
		line = cut
	}
	if strings.HasPrefix(line, "(") {
		return strings.Contains(line, ")")
	}
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "! "), " ")
	if end := strings.IndexAny(word, ";&|<>"); end >= 0 {
		word = word[:end]
	}
	word = strings.Trim(word, `"'`)
	switch {
	case word == "":
		return false
	case compounds[word] != "":
		return slices.Contains(strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == ';' }), compounds[word])
	case slices.Contains(builtins, word) && runtime.GOOS != "windows":
		return true
	case slices.Contains(windowsBuiltins, strings.ToLower(word)) && runtime.GOOS == "windows":
		return true
	case strings.ContainsAny(word, `/\`):
		return w.isProgram(word)
	}
	for _, dir := range filepath.SplitList(w.path) {
		// An entry that is not absolute would find programs in the workspace.
		if filepath.IsAbs(dir) && isProgramFile(os.Stat, filepath.Join(dir, word)) {
			return true
		}
	}
	return false
}

// isProgram reports whether a path, seen from the workspace, can be run.
func (w *workspace) isProgram(path string) bool {
	if filepath.IsAbs(path) {
		return isProgramFile(os.Stat, path)
	}
	return isProgramFile(w.root.Stat, path)
}

func isProgramFile(stat func(string) (fs.FileInfo, error), path string) bool {
	if runtime.GOOS == "windows" {
		return slices.ContainsFunc([]string{"", ".exe", ".cmd", ".bat", ".com"}, func(extension string) bool {
			fi, err := stat(path + extension)
			return err == nil && fi.Mode().IsRegular() && (extension != "" || filepath.Ext(path) != "")
		})
	}
	fi, err := stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0
}

// testCommand says how the project's tests are run, or returns "".
func (w *workspace) testCommand() string { return files.TestCommand(w.root, w.isCommand) }

// readSmall reads a regular file of at most 256 KiB.
func (w *workspace) readSmall(name string) ([]byte, error) { return files.ReadSmall(w.root, name) }
