package files

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// maxWatched is how many folders are watched at a time. Systems have limits of their own, which
// other programs need, too.
const maxWatched = 1000

// Watcher reports when files may have changed, as the operating system notifies it.
//
// A report is a hint: its receiver looks at the file. What the system cannot watch, because its
// limits are reached or because the folder lies on another machine, says so ([Follower.Blind]), and
// its followers have to look from time to time.
//
// Folders are watched, not files, so that a file which is replaced by rename is still followed.
// Each is watched once, for all that follow files in it, and nothing is once the last of them is
// gone.
//
// The zero value is ready. Methods may be called concurrently.
type Watcher struct {
	// Changing what is watched may wait until reports were taken, so mu is not held then.
	changing sync.Mutex // comes before mu; guards fs
	fs       *fsnotify.Watcher
	wg       sync.WaitGroup // the goroutine that takes reports

	mu      sync.Mutex
	folders map[string]map[*Follower]struct{} // by path; one that cannot be watched is not there
}

// Follower follows files. Changes arrive on C.
type Follower struct {
	C <-chan struct{} // gets a value after a file of it may have changed

	c     chan struct{}
	w     *Watcher
	names map[string]struct{} // absolute
	in    []string            // folders that are watched for it
}

// Follow begins to follow files, by their absolute names without links. The caller closes the
// Follower.
func (w *Watcher) Follow(names []string) *Follower {
	r := &Follower{c: make(chan struct{}, 1), w: w, names: map[string]struct{}{}}
	r.C = r.c
	folders := map[string]struct{}{}
	for _, name := range names {
		r.names[name] = struct{}{}
		folders[filepath.Dir(name)] = struct{}{}
	}
	w.changing.Lock()
	defer w.changing.Unlock()
	for folder := range folders {
		if w.add(folder, r) {
			r.in = append(r.in, folder)
		}
	}
	return r
}

// Blind reports whether changes of a file are not reported.
func (r *Follower) Blind(name string) bool { return !slices.Contains(r.in, filepath.Dir(name)) }

// Close ends following. It is called once.
func (r *Follower) Close() {
	w := r.w
	w.changing.Lock()
	defer w.changing.Unlock()
	for _, folder := range r.in {
		w.mu.Lock()
		delete(w.folders[folder], r)
		last := len(w.folders[folder]) == 0
		if last {
			delete(w.folders, folder)
		}
		w.mu.Unlock()
		if last {
			_ = w.fs.Remove(folder) // it may be gone, and its watch with it
		}
	}
	if w.fs != nil && len(w.folders) == 0 {
		_ = w.fs.Close()
		w.wg.Wait()
		w.fs = nil
	}
}

// add has a folder watched for r. w.changing is held.
func (w *Watcher) add(folder string, r *Follower) bool {
	w.mu.Lock()
	readers, known := w.folders[folder]
	if known {
		readers[r] = struct{}{}
	}
	full := len(w.folders) >= maxWatched
	w.mu.Unlock()
	if known {
		return true
	}
	if full || remote(folder) || !w.begin() {
		return false
	}
	if err := w.fs.Add(folder); err != nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.folders == nil {
		w.folders = map[string]map[*Follower]struct{}{}
	}
	w.folders[folder] = map[*Follower]struct{}{r: {}}
	return true
}

// begin makes sure that reports are taken. w.changing is held.
func (w *Watcher) begin() bool {
	if w.fs != nil {
		return true
	}
	fs, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	w.fs = fs
	w.wg.Go(func() { w.take(fs) })
	return true
}

// take passes reports to readers until fs is closed.
func (w *Watcher) take(fs *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-fs.Events:
			if !ok {
				return
			}
			w.notify(e.Name)
		case _, ok := <-fs.Errors: // reports were lost
			if !ok {
				return
			}
			w.notify("")
		}
	}
}

// notify notifies the readers of a file, or of a file in the folder of that name; all if it is
// empty.
func (w *Watcher) notify(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for folder, readers := range w.folders {
		if name != "" && name != folder && filepath.Dir(name) != folder {
			continue
		}
		for r := range readers {
			if _, ok := r.names[name]; !ok && name != "" && name != folder {
				continue
			}
			select {
			case r.c <- struct{}{}:
			default: // it has yet to look
			}
		}
	}
}
