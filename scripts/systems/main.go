// Command systems reads this module as each system that it is released for would compile it,
// tests too, and reports what does not compile and what go vet's analyzers find. It makes no
// machine code, neither of the module nor of what it stands on, which is what costs the time of
// "go build" and "go vet" for another system.
//
//	go run ./scripts/systems linux/arm64 darwin/amd64
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	if !look(os.Stdout, ".", os.Args[1:]...) {
		os.Exit(1)
	}
}

// look reads the module in dir for each system, says what is wrong and whether nothing is.
func look(out io.Writer, dir string, systems ...string) bool {
	good := true
	for _, system := range systems {
		found, err := wrong(dir, system)
		if err != nil {
			found = append(found, err.Error())
		}
		for _, f := range found {
			fmt.Fprintf(out, "%s: %s\n", system, f)
			good = false
		}
	}
	return good
}

// wrong returns what is wrong with the module in dir on a system, in order.
func wrong(dir, system string) ([]string, error) {
	goos, arch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("a system is named like linux/arm64")
	}
	all, err := packages.Load(&packages.Config{
		Dir: dir, Tests: true, Mode: packages.LoadAllSyntax | packages.NeedModule,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch),
	}, "./...")
	if err != nil {
		return nil, err
	}
	var found []string
	packages.Visit(all, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	})
	if found == nil {
		found, err = vetted(all)
	}
	slices.Sort(found)
	return slices.Compact(found), err // a package and its test have the same files
}

// vetted returns what go vet's analyzers find.
func vetted(all []*packages.Package) ([]string, error) {
	graph, err := checker.Analyze(vet.Suite, all, nil)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, a := range graph.Roots {
		if a.Err != nil {
			return nil, fmt.Errorf("%s of %s: %w", a.Analyzer, a.Package.PkgPath, a.Err)
		}
		for _, d := range a.Diagnostics {
			found = append(found, fmt.Sprintf("%s: %s", a.Package.Fset.Position(d.Pos), d.Message))
		}
	}
	return found, nil
}
