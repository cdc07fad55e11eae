package files

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// objects are those of a git folder of ours, each in a file of its own, by their SHA-256. They are
// written here and not by git, which would follow a link that takes a folder's place meanwhile.
type objects struct {
	dir     string
	written int64        // bytes on disk, by this process
	z       *zlib.Writer // used again: making one costs more than a small file
}

// The kinds of objects, and the modes of what a tree names.
const (
	blobKind = "blob"
	treeKind = "tree"

	plainMode      = "100644"
	executableMode = "100755"
	linkMode       = "120000"
	treeMode       = "40000"
)

// version is a file as a snapshot has it. The zero version: there is none.
type version struct{ mode, hash string }

// treeEntry is a version with its name in a tree.
type treeEntry struct {
	name string
	version
}

// objectName is what git calls an object.
func objectName(kind string, data []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func (o *objects) path(name string) string { return filepath.Join(o.dir, name[:2], name[2:]) }

// put writes an object unless it is there.
func (o *objects) put(kind string, data []byte) (name string, err error) {
	name = objectName(kind, data)
	path := o.path(name)
	if _, err := os.Lstat(path); err == nil {
		return name, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if o.z == nil {
		o.z, _ = zlib.NewWriterLevel(&b, zlib.BestSpeed) // it is a level
	}
	o.z.Reset(&b)
	if _, err = fmt.Fprintf(o.z, "%s %d\x00", kind, len(data)); err == nil {
		_, err = o.z.Write(data)
	}
	if err = errors.Join(err, o.z.Close()); err != nil {
		return "", err
	}
	temp := filepath.Join(o.dir, "tmp_obj_"+rand.Text()) // git prune removes what a kill left
	if err = os.WriteFile(temp, b.Bytes(), 0o600); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(temp))
	}
	o.written += int64(b.Len())
	return name, nil
}

// get reads an object. [ErrNoSnapshot] if it is gone or damaged.
func (o *objects) get(kind, name string) (data []byte, err error) {
	if len(name) != 2*sha256.Size || commitName(name) == "" {
		return nil, ErrNoSnapshot
	}
	f, err := os.Open(o.path(name))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSnapshot, err)
	}
	defer f.Close()
	z, err := zlib.NewReader(f)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(z, maxKept+1<<20))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSnapshot, err)
	}
	head, body, _ := bytes.Cut(data, []byte{0})
	if string(head) != kind+" "+strconv.Itoa(len(body)) || objectName(kind, body) != name {
		return nil, fmt.Errorf("%w: object %s is damaged", ErrNoSnapshot, name)
	}
	return body, nil
}

// putTree writes a tree.
func (o *objects) putTree(entries []treeEntry) (name string, err error) {
	slices.SortFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.order(), b.order()) })
	var b bytes.Buffer
	for _, e := range entries {
		raw, err := hex.DecodeString(e.hash)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\x00%s", e.mode, e.name, raw)
	}
	return o.put(treeKind, b.Bytes())
}

// order is what git sorts the entries of a tree by.
func (e treeEntry) order() string {
	if e.mode == treeMode {
		return e.name + "/"
	}
	return e.name
}

// tree reads a tree; the empty name is that of an empty one.
func (o *objects) tree(name string) (entries []treeEntry, err error) {
	if name == "" {
		return nil, nil
	}
	data, err := o.get(treeKind, name)
	for len(data) > 0 && err == nil {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, spaced := strings.Cut(string(head), " ")
		if !ok || !spaced || len(rest) < sha256.Size {
			return nil, fmt.Errorf("%w: a tree is damaged", ErrNoSnapshot)
		}
		hash := hex.EncodeToString(rest[:sha256.Size])
		entries, data = append(entries, treeEntry{name, version{mode, hash}}), rest[sha256.Size:]
	}
	return entries, err
}

// differ calls each for the files that differ between two trees, by path.
func (o *objects) differ(was, left, dir string, each func(path string, was, left version)) error {
	if was == left {
		return nil
	}
	both := map[string]*[2]version{}
	for i, tree := range []string{was, left} {
		entries, err := o.tree(tree)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if both[e.name] == nil {
				both[e.name] = &[2]version{}
			}
			both[e.name][i] = e.version
		}
	}
	for _, name := range slices.Sorted(maps.Keys(both)) {
		v := both[name]
		if v[0] == v[1] {
			continue
		}
		var below [2]string // of what is a folder
		for i := range v {
			if v[i].mode == treeMode {
				below[i], v[i] = v[i].hash, version{}
			}
		}
		if v[0] != v[1] {
			each(dir+name, v[0], v[1])
		}
		if err := o.differ(below[0], below[1], dir+name+"/", each); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is how many bytes a folder holds.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be read is not counted
		}
		if st, err := d.Info(); err == nil {
			size += st.Size()
		}
		return nil
	})
	return size
}
