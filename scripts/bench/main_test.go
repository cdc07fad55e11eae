package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const output = `goos: linux
pkg: webchat/internal/outputs
BenchmarkGet/1KiB-2         	 7	 17 ns/op	 0.06 MB/s	 48 ns/ours	 0.85 ratio
BenchmarkGet/100KiB-2       	 7	 62 ns/op	 0.75 ratio
BenchmarkGet/100KiB-2       	 7	 62 ns/op	 0.50 ratio
BenchmarkGet/100KiB-2       	 7	 62 ns/op	 0.55 ratio
BenchmarkCodeWindow/first-2      	 7	 1.1 ratio
BenchmarkCodeWindow/later,_indexed-2      	 7	 1.3 ratio
BenchmarkIdleStream-2      	       3	     40960 ours-bytes/stream
ok  	webchat/internal/outputs	16.438s
`

func TestTable(t *testing.T) {
	var out strings.Builder
	if !run(strings.NewReader(output), &out) {
		t.Error("no benchmark failed")
	}
	if !strings.HasPrefix(out.String(), output) {
		t.Error("the output was not passed on")
	}
	for _, want := range []string{
		`6 +an output of 1 KiB.* 0\.85 +≥ 0\.8 +yes`,
		`6 +an output of 100 KiB, likewise +0\.55 +≥ 0\.6 +no`, // the median
		`7 .* 1\.3 +≤ 1\.2 +no`,                                // the worst
		`4 +an idle stream, bytes +40960 +≤ 40960 +yes`,
		`12 .* - +≤ 12 +not measured`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(out.String()) {
			t.Errorf("no line %q in\n%s", want, out.String())
		}
	}
}

func TestFailedBenchmark(t *testing.T) {
	for _, line := range []string{"--- FAIL: BenchmarkX", "FAIL\twebchat/internal/x [build failed]",
		"panic: x"} {
		if run(strings.NewReader(output+line+"\n"), &strings.Builder{}) {
			t.Errorf("%q counts as success", line)
		}
	}
}

// What is asked of a benchmark that is not there, or of a unit it does not report,
// would be "not measured" for ever.
func TestDemandsAreMeasured(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir),
			func(name string, _ fs.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(name, "_test.go") {
					return err
				}
				b, err := os.ReadFile(name)
				code.Write(b)
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range demands {
		name, _, _ := strings.Cut(d.bench, "/")
		if !strings.Contains(code.String(), "func Benchmark"+name+"(") {
			t.Errorf("there is no Benchmark%s", name)
		}
		// The fan-out's figures of each contender are joined to its name.
		if metric := strings.TrimPrefix(d.metric, "ours"); !strings.Contains(code.String(), metric+`"`) {
			t.Errorf("nothing reports %s", d.metric)
		}
	}
}
