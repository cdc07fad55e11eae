package outputs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// keeper keeps complete outputs on disk: one file each, in a folder for each session, for this user
// only.
type keeper struct {
	dir    string
	shared bool // other programs keep theirs there, too
	keep   time.Duration
	log    *slog.Logger
	wall   func() time.Time

	mu    sync.Mutex // guards what follows, and one file is read or written at a time
	files map[ID]keptFile
	read  time.Time // when the folder was read last
}

// keptFile is a file. Its modification time is when it was completed, or so much later as a pin
// makes it last longer.
type keptFile struct {
	session   string
	completed time.Time
}

// keptHead is the first line of a file; the bytes that were kept follow.
type keptHead struct {
	Meta      Meta      `json:"meta"`
	Session   string    `json:"session"`
	Called    time.Time `json:"called,omitzero"`
	Created   time.Time `json:"created"`
	Size      int64     `json:"size"` // of everything that was written
	Lines     int64     `json:"lines"`
	Open      bool      `json:"open"`
	Head      int64     `json:"head"`             // bytes before the gap, or all
	TailAt    int64     `json:"tailAt,omitempty"` // where the rest belongs
	TailLines int64     `json:"tailLines,omitempty"`
	// as it is described, for listing without reading the bytes
	Gap *Gap `json:"gap,omitempty"`
}

var sessionName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// isSession reports whether a session may be called so.
func isSession(name string) bool { return len(name) <= 64 && sessionName.MatchString(name) }

func newKeeper(c Config, log *slog.Logger) (*keeper, error) {
	k := &keeper{
		dir:    c.KeepDir,
		shared: c.KeepShared,
		keep:   c.Keep,
		log:    log,
		wall:   time.Now,
		files:  map[ID]keptFile{},
	}
	err := os.MkdirAll(k.dir, 0o700)
	if err == nil {
		err = k.look()
	}
	if err != nil {
		return nil, fmt.Errorf("keep outputs: %w", err)
	}
	k.sweep()
	return k, nil
}

// look reads which files there are. The caller holds k.mu, or no other goroutine has k.
func (k *keeper) look() error {
	folders, err := os.ReadDir(k.dir)
	if err != nil {
		return err
	}
	was := k.files
	k.files, k.read = map[ID]keptFile{}, k.wall()
	for _, f := range folders {
		if f.IsDir() && isSession(f.Name()) {
			if err := k.lookIn(f.Name()); err != nil {
				k.files = was
				return err
			}
		}
	}
	return nil
}

// lookIn adds the files of a session. What a program that was killed did not finish is deleted.
func (k *keeper) lookIn(session string) error {
	files, err := os.ReadDir(filepath.Join(k.dir, session))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, x := range files {
		fi, err := x.Info()
		switch {
		case err != nil: // it is gone
		case outputID.MatchString(x.Name()):
			k.files[ID(x.Name())] = keptFile{session, fi.ModTime()}
		case strings.HasSuffix(x.Name(), unfinished) && k.wall().Sub(fi.ModTime()) > sweepKept:
			_ = os.Remove(filepath.Join(k.dir, session, x.Name())) // the next look tries again
		}
	}
	return err
}

// unfinished ends the name of a file that is being written.
const unfinished = ".tmp"

// lookAgain is how long the folder is not read again for an output that is not in it.
const lookAgain = 250 * time.Millisecond

// find returns the file of an output; of another program's, by reading the folder. The caller holds
// k.mu.
func (k *keeper) find(id ID) (keptFile, bool) {
	f, ok := k.files[id]
	if since := k.wall().Sub(k.read); !ok && k.shared && outputID.MatchString(string(id)) &&
		(since < 0 || since > lookAgain) {
		if err := k.look(); err != nil {
			k.log.Warn("the folder of outputs cannot be read", "error", err)
		}
		f, ok = k.files[id]
	}
	return f, ok && f.completed.Add(k.keep).After(k.wall())
}

func (k *keeper) path(id ID, f keptFile) string {
	return filepath.Join(k.dir, f.session, string(id))
}

// save writes an output whose life has begun. If it fails, the output is gone when its life ends.
func (k *keeper) save(o *Output) {
	v, m := o.acquire()
	if !isSession(m.SessionID) {
		return
	}
	f := keptFile{m.SessionID, k.from(o)}
	head := keptHead{
		Meta:    m,
		Session: m.SessionID,
		Called:  m.Called.Round(0),
		Created: o.created.Round(0),
		Size:    v.size,
		Lines:   v.nl,
		Open:    v.open,
		Head:    v.size,
	}
	if from, to, _, ok := v.gap(); ok {
		head.Head, head.TailAt, head.TailLines = from, to, v.at(len(v.head)).nl
		head.Gap = v.describe(&m)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.write(o.id, f, head, &v); err != nil {
		k.log.Warn("an output was not kept on disk", "error", err)
		return
	}
	k.files[o.id] = f
}

// from is when the life of a file begins to count.
func (k *keeper) from(o *Output) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	from := o.kept.Add(-k.keep) // which is final
	if pinned := o.pin.Round(0).Add(PinLimit - k.keep); !o.pin.IsZero() && pinned.After(from) {
		return pinned
	}
	return from
}

// pinned has a file last as long as its output's pin, or no longer than without.
func (k *keeper) pinned(o *Output) {
	from := k.from(o)
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.files[o.id]
	if !ok {
		return
	}
	f.completed = from
	if err := os.Chtimes(k.path(o.id, f), time.Time{}, from); err != nil {
		k.log.Warn("an output that was pinned is not kept longer on disk", "error", err)
		return
	}
	k.files[o.id] = f
}

func (k *keeper) write(id ID, f keptFile, head keptHead, v *view) error {
	if err := os.MkdirAll(filepath.Join(k.dir, f.session), 0o700); err != nil {
		return err
	}
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	temp := k.path(id, f) + unfinished
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	for i := 0; i < v.len() && err == nil; i++ {
		_, err = file.Write(v.at(i).buf)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Chtimes(temp, time.Time{}, f.completed)
	}
	if err == nil {
		err = os.Rename(temp, k.path(id, f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// load reads an output back; false if it is not kept, or no longer.
func (k *keeper) load(s *Store, id ID) (*Output, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f, ok := k.find(id)
	if !ok {
		return nil, false
	}
	b, err := os.ReadFile(k.path(id, f))
	if err == nil {
		var o *Output
		if o, err = revived(s, id, b, f.completed.Add(k.keep)); err == nil {
			return o, true
		}
	}
	k.unreadable(id, err)
	return nil, false
}

// unreadable forgets a file. Another program may have deleted it. The caller holds k.mu.
func (k *keeper) unreadable(id ID, err error) {
	if !k.shared || !errors.Is(err, os.ErrNotExist) {
		k.log.Warn("an output that was kept cannot be read", "error", err)
	}
	delete(k.files, id)
}

// revived makes an output of a file. It is not in the store yet.
func revived(s *Store, id ID, file []byte, kept time.Time) (*Output, error) {
	line, data, ok := bytes.Cut(file, []byte{'\n'})
	var h keptHead
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, err
	}
	gap := h.TailAt > 0
	if h.Head < 0 || h.Head > int64(len(data)) || !gap && h.Head != int64(len(data)) || gap &&
		(h.TailAt < h.Head || h.Size-h.TailAt != int64(len(data))-h.Head) {
		return nil, io.ErrUnexpectedEOF
	}
	h.Meta.SessionID, h.Meta.Called, h.Meta.Gap = h.Session, h.Called, nil
	v := view{complete: true}
	if gap {
		v.head, _ = split(data[:h.Head], 0, 0)
		v.tail, v.nl = split(data[h.Head:], h.TailAt, h.TailLines)
		v.size, v.open = h.Size, h.Open
	} else {
		v.set(data[:len(data):len(data)])
	}
	return &Output{id: id, created: h.Created, store: s, meta: h.Meta, view: v, kept: kept}, nil
}

// session lists the outputs of a session that are on disk, by the first lines of their files.
func (k *keeper) session(id string) (all []Listed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shared && isSession(id) {
		if err := k.lookIn(id); err != nil {
			k.log.Warn("the folder of outputs cannot be read", "error", err)
		}
	}
	for o, f := range k.files {
		if f.session != id || !f.completed.Add(k.keep).After(k.wall()) {
			continue
		}
		h, err := readHead(k.path(o, f))
		if err != nil {
			k.unreadable(o, err)
			continue
		}
		h.Meta.SessionID, h.Meta.Called, h.Meta.Gap = h.Session, h.Called, h.Gap
		h.Meta.Truncated = h.Meta.Truncated || h.Gap != nil
		all = append(all, Listed{
			ID:        o,
			Meta:      h.Meta,
			Size:      h.Size,
			Complete:  true,
			CreatedAt: h.Created,
			ExpiresAt: f.completed.Add(k.keep),
		})
	}
	return all
}

// maxHead is how many bytes of a file are read for its first line.
const maxHead = 1 << 20

func readHead(name string) (h keptHead, err error) {
	f, err := os.Open(name)
	if err != nil {
		return h, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxHead)).ReadBytes('\n')
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(line, &h)
}

// drop deletes what is kept of a session.
func (k *keeper) drop(session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, f := range k.files {
		if f.session == session {
			delete(k.files, id)
		}
	}
	if !isSession(session) {
		return
	}
	if err := os.RemoveAll(filepath.Join(k.dir, session)); err != nil {
		k.log.Error("the outputs of a deleted session are still on disk", "error", err)
	}
}

// sweepKept is how often files are looked through for old ones, or a sixth of their life.
const sweepKept = time.Hour

// sweep deletes what was kept long enough, and folders left empty; other programs' files, too,
// which may not be there any longer to do it.
func (k *keeper) sweep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.look(); err != nil {
		k.log.Warn("the folder of outputs cannot be read", "error", err)
	}
	for id, f := range k.files {
		if f.completed.Add(k.keep).After(k.wall()) {
			continue
		}
		delete(k.files, id)
		k.delete(id, f)
	}
}

// delete removes a file, and its folder if that is left empty. The caller holds k.mu.
func (k *keeper) delete(id ID, f keptFile) {
	if err := os.Remove(k.path(id, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
		k.log.Warn("an old output is still on disk", "error", err)
	}
	_ = os.Remove(filepath.Join(k.dir, f.session)) // fails while it holds another
}

// forget deletes what is kept of an output.
func (k *keeper) forget(id ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.files[id]; ok {
		delete(k.files, id)
		k.delete(id, f)
	}
}
