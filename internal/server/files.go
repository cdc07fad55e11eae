package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/charlievieth/fastwalk"
	"github.com/sahilm/fuzzy"
)

// Bounds of completing a path.
const (
	maxFiles  = 50_000
	maxDepthF = 24
	walkTime  = time.Second
	walkLife  = 3 * time.Second // typing asks many times within it
)

// skipped folders hold what nobody names by hand.
var skipped = []string{".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"}

type fileList struct {
	Files []string `json:"files"`
}

// files lists the workspace.
type files struct {
	root string

	mu   sync.Mutex // guards what follows; held while walking, so one walks for all
	list []string   // slash-separated, relative; the shallow ones first
	at   time.Time
}

func (s *Server) completeFiles(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := number(q.Get("limit"), "limit", 20, 200)
	if err != nil {
		return err
	}
	list, err := s.files.all(r.Context())
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, fileList{complete(q.Get("q"), list, limit)})
}

// complete picks what a person may mean by a part of a path.
func complete(q string, list []string, limit int) []string {
	q = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(q), `\`, "/"), "./")
	out := []string{}
	if q == "" {
		return append(out, list[:min(limit, len(list))]...)
	}
	if len(q) > 200 {
		return out
	}
	for _, m := range fuzzy.Find(q, list) {
		if out = append(out, m.Str); len(out) == limit {
			break
		}
	}
	return out
}

func (f *files) all(ctx context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f.list != nil && time.Since(f.at) < walkLife {
		return f.list, nil
	}
	list, err := walk(f.root)
	if err != nil {
		return nil, err
	}
	f.list, f.at = list, time.Now()
	return list, nil
}

var errEnough = errors.New("enough")

// walk lists the files below root, as far as it comes within its bounds. It
// follows no links: they may lead out of the workspace, and in circles.
func walk(root string) ([]string, error) {
	var mu sync.Mutex // guards list: fastwalk calls from several goroutines
	list := []string{}
	end := time.Now().Add(walkTime)
	err := fastwalk.Walk(&fastwalk.Config{NumWorkers: 4, MaxDepth: maxDepthF}, root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if path == root {
				return err
			}
			return nil // a folder that cannot be read completes nothing
		case d.IsDir():
			if path != root && slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if len(list) >= maxFiles || time.Now().After(end) {
			return errEnough
		}
		list = append(list, filepath.ToSlash(rel))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	return list, nil
}
