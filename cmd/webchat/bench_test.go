package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"webchat/internal/e2e/ports"
)

// BenchmarkStart measures the time from starting the program to the first page it
// serves, in turns with a chi server that has nothing else to do: "ratio" is the
// median of ours over theirs.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	ours, empty := build(b, dir, "."), build(b, dir, "./testdata/emptychi")
	inTurns(b, "chi", func(addr string) []string {
		return []string{empty, addr}
	}, webchatAt(b, ours, dir))
}

// webchatAt returns the command line of a webchat at an address, with a data folder in dir.
func webchatAt(b *testing.B, program, dir string, more ...string) func(addr string) []string {
	workspace := b.TempDir()
	return func(addr string) []string {
		return append([]string{program, "--listen", addr, "--data-dir", filepath.Join(dir, "data"),
			"--workspace", workspace, "--no-open", "--config", "/dev/null"}, more...)
	}
}

// inTurns starts two programs in turns, each with the arguments for an address, and reports the
// median of the times to their first pages: "ratio" is that of ours over theirs.
func inTurns(b *testing.B, name string, theirs, ours func(addr string) []string) {
	var a, r, ratios []float64
	for b.Loop() {
		for range 7 {
			addr := "127.0.0.1:" + ports.Free()
			mine := firstPage(b, addr, ours(addr)...)
			addr = "127.0.0.1:" + ports.Free()
			other := firstPage(b, addr, theirs(addr)...)
			a, r, ratios = append(a, mine), append(r, other), append(ratios, mine/other)
		}
	}
	b.ReportMetric(median(a), "ms/webchat")
	b.ReportMetric(median(r), "ms/"+name)
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(0, "ns/op")
}

// build builds as users do.
func build(b *testing.B, dir, pkg string) string {
	out := filepath.Join(dir, filepath.Base(pkg)+".bin")
	cmd := exec.Command("go", "build", "-trimpath", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	return out
}

// firstPage starts a program, and ends it when it has served its first page; the
// milliseconds in between.
func firstPage(b *testing.B, addr string, args ...string) float64 {
	cmd := exec.Command(args[0], args[1:]...)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for time.Since(start) < patience {
		res, err := client.Get("http://" + addr + "/")
		if err == nil {
			took := float64(time.Since(start).Microseconds()) / 1000
			res.Body.Close()
			if res.StatusCode != http.StatusServiceUnavailable { // which says that it waits for its database
				return took
			}
		}
		time.Sleep(200 * time.Microsecond)
	}
	b.Fatalf("%s served nothing", args[0])
	return 0
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
