package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sahilm/fuzzy"
)

// many is n paths as a large repository has them.
func many(n int) []string {
	words := []string{"internal", "Components", "browser", "render", "testdata", "media", "network",
		"third_party", "storage", "views"}
	paths := make([]string, n)
	for i := range paths {
		w := func(k int) string { return words[i/k%len(words)] }
		paths[i] = fmt.Sprintf("%s/%s/%s/%s_%d/%s_%s_%d.go", w(1), w(7), w(61), w(533), i%997, w(3),
			w(11), i)
	}
	return paths
}

// Each question over 500,000 paths, beside the library alone over the same ones.
func BenchmarkComplete500k(b *testing.B) {
	root := b.TempDir()
	l := newList(many(500_000))
	for _, q := range []string{"", "e", "go", "renmed", "media_views_1234", "internal/browser", "zzz",
		"日本"} {
		b.Run("ours/q="+q, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.complete(b.Context(), root, q, 20, func(string) bool {
					return true
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/answer")
		})
	}
	for _, q := range []string{"go", "renmed"} {
		b.Run("reference/q="+q, func(b *testing.B) {
			for b.Loop() {
				_ = fuzzy.Find(q, l.paths)
			}
		})
	}
}

func BenchmarkList500k(b *testing.B) {
	paths := many(500_000)
	for b.Loop() {
		newList(append([]string(nil), paths...))
	}
}

// warmSnapshots are of a folder of 1,500 files.
func warmSnapshots(b *testing.B) (s *Snapshots, dir string) {
	dir, old := b.TempDir(), time.Now().Add(-time.Hour) // git looks twice at what was written just now
	for i := range 1500 {
		name := filepath.Join(dir, fmt.Sprintf("d%d", i%50), fmt.Sprintf("f%d.go", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700),
			os.WriteFile(name, []byte(name), 0o600), os.Chtimes(name, old, old)); err != nil {
			b.Fatal(err)
		}
	}
	s = NewSnapshots(SnapshotsConfig{Dir: filepath.Join(b.TempDir(), "snapshots"), Env: os.Environ()})
	if err := s.Warm(b.Context(), dir); err != nil {
		b.Fatal(err)
	}
	return s, dir
}

// BenchmarkSnapshot is a snapshot of 1,500 files that did not change: 20 ms at most.
func BenchmarkSnapshot(b *testing.B) {
	s, dir := warmSnapshots(b)
	for i := 0; b.Loop(); i++ {
		if err := s.Take(b.Context(), dir, "one", fmt.Sprint(i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/snapshot")
}

// BenchmarkGoBack goes back to before 30 of 1,500 files were changed, and takes that back: 300 ms
// at most for one of both.
func BenchmarkGoBack(b *testing.B) {
	s, dir := warmSnapshots(b)
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(s.Take(b.Context(), dir, "one", "was"))
	for i := range 30 {
		must(os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%d", i), fmt.Sprintf("f%d.go", i)),
			[]byte("changed"), 0o600))
	}
	must(s.Take(b.Context(), dir, "one", "left"))
	log := func(Restored) error { return nil }
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint("back", i)
		_, err := s.Restore(b.Context(), RestoreOf{Workspace: dir, Session: "one", ID: id,
			Acts: []Act{{Was: "was", Left: "left"}}}, log)
		must(err)
		_, err = s.Restore(b.Context(), RestoreOf{Workspace: dir, Session: "one", ID: id + "again",
			From: LeftOf(id), To: WasOf(id)}, log)
		must(err)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/2, "ms/back")
}
