package store

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// faultDisk is a disk below the files of one folder: it knows what of them is on the
// disk and what is only in the memory of the system, and fails on request.
// Everything else goes to the real files, so a program sees nothing of it until then.
type faultDisk struct {
	dir string

	mu     sync.Mutex // guards what follows
	files  map[string]*faultFile
	broken bool // each sync fails, and what it was to write is lost, as ext4 does it
}

// faultFile is a file of a faultDisk.
type faultFile struct {
	there   bool // its name is on the disk
	onDisk  []byte
	pending []pending
}

// pending is a write, or a change of the length, that is not on the disk.
type pending struct {
	at   int64
	data []byte // nil: the file ends at at
}

// newFaultDisk puts one below a new folder.
func newFaultDisk(t *testing.T) *faultDisk {
	t.Helper()
	faults.register(t)
	d := &faultDisk{dir: t.TempDir(), files: map[string]*faultFile{}}
	faults.mu.Lock()
	defer faults.mu.Unlock()
	faults.disks = append(faults.disks, d)
	return d
}

func (d *faultDisk) set(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

// image is a folder with what is on the disk when the power is lost now: of what was
// not synced each write is there or not.
func (d *faultDisk) image(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := t.TempDir()
	for name, f := range d.files {
		if !f.there {
			continue
		}
		b := append([]byte{}, f.onDisk...)
		for _, p := range f.pending {
			if rnd.IntN(2) == 0 {
				b = p.on(b)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (p pending) on(b []byte) []byte {
	if p.data == nil {
		return b[:min(p.at, int64(len(b)))]
	}
	if end := p.at + int64(len(p.data)); end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[p.at:], p.data)
	return b
}

func (d *faultDisk) file(name string) *faultFile {
	f := d.files[name]
	if f == nil {
		f = &faultFile{}
		d.files[name] = f
	}
	return f
}

func (d *faultDisk) write(name string, p pending) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.file(name)
	f.pending = append(f.pending, p)
}

// sync reports whether what is pending is on the disk now.
func (d *faultDisk) sync(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.file(name)
	if !d.broken {
		f.there = true
		for _, p := range f.pending {
			f.onDisk = p.on(f.onDisk)
		}
	}
	f.pending = nil
	return !d.broken
}

// faults is the layer between SQLite and its files (sqlite.org/vfs.html), the default
// one of the test's process.
var faults layer

type layer struct {
	once     sync.Once
	original uintptr // the sqlite3_vfs it stands before

	mu    sync.Mutex // guards what follows
	disks []*faultDisk
	open  map[uintptr]openFile // by sqlite3_file
}

type openFile struct {
	disk    *faultDisk
	name    string
	methods *lib.Tsqlite3_io_methods // of the layer below
}

// register puts the layer in place.
func (l *layer) register(t *testing.T) {
	l.once.Do(func() {
		tls := libc.NewTLS()
		defer tls.Close()
		l.open, l.original = map[uintptr]openFile{}, lib.Xsqlite3_vfs_find(tls, 0)
		own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(lib.Tsqlite3_vfs{})))
		*vfsAt(own) = *vfsAt(l.original)
		vfsAt(own).FxOpen, vfsAt(own).FxDelete = function(layerOpen), function(layerDelete)
		name, err := libc.CString("faults")
		if err != nil {
			t.Fatal(err)
		}
		vfsAt(own).FzName = name
		if rc := lib.Xsqlite3_vfs_register(tls, own, 1); rc != lib.SQLITE_OK {
			t.Fatal("register the layer: ", rc)
		}
	})
}

func (l *layer) diskOf(name string) *faultDisk {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.disks {
		if strings.HasPrefix(name, d.dir+"/") && !strings.HasSuffix(name, "-shm") {
			return d
		}
	}
	return nil
}

func (l *layer) at(file uintptr) openFile {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[file]
}

func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func vfsAt(p uintptr) *lib.Tsqlite3_vfs { return at[lib.Tsqlite3_vfs](p) }

// function is a function of this package as the translated C calls it.
func function(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// call makes one of such a function.
func call[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }

type (
	openCall     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteCall   = func(tls *libc.TLS, vfs, name uintptr, syncDir int32) int32
	closeCall    = func(tls *libc.TLS, file uintptr) int32
	writeCall    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateCall = func(tls *libc.TLS, file uintptr, size int64) int32
	syncCall     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

func layerOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := call[openCall](vfsAt(faults.original).FxOpen)(tls, faults.original, name, file, flags, out)
	if rc != lib.SQLITE_OK || name == 0 {
		return rc
	}
	path := libc.GoString(name)
	d := faults.diskOf(path)
	if d == nil {
		return rc
	}
	f := at[lib.Tsqlite3_file](file)
	below := at[lib.Tsqlite3_io_methods](f.FpMethods)
	own := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*below)))
	methods := at[lib.Tsqlite3_io_methods](own)
	*methods = *below
	methods.FxClose, methods.FxWrite = function(layerClose), function(layerWrite)
	methods.FxTruncate, methods.FxSync = function(layerTruncate), function(layerSync)
	f.FpMethods = own
	faults.mu.Lock()
	defer faults.mu.Unlock()
	faults.open[file] = openFile{d, path, below}
	return rc
}

func layerDelete(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	path := libc.GoString(name)
	if d := faults.diskOf(path); d != nil {
		d.mu.Lock()
		delete(d.files, path)
		d.mu.Unlock()
	}
	return call[deleteCall](vfsAt(faults.original).FxDelete)(tls, faults.original, name, syncDir)
}

func layerClose(tls *libc.TLS, file uintptr) int32 {
	o := faults.at(file)
	faults.mu.Lock()
	delete(faults.open, file)
	faults.mu.Unlock()
	f := at[lib.Tsqlite3_file](file)
	libc.Xfree(tls, f.FpMethods)
	return call[closeCall](o.methods.FxClose)(tls, file)
}

func layerWrite(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	o := faults.at(file)
	rc := call[writeCall](o.methods.FxWrite)(tls, file, data, n, at)
	if rc == lib.SQLITE_OK {
		o.disk.write(o.name, pending{at, append([]byte{},
			unsafe.Slice(*(**byte)(unsafe.Pointer(&data)), n)...)})
	}
	return rc
}

func layerTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	o := faults.at(file)
	rc := call[truncateCall](o.methods.FxTruncate)(tls, file, size)
	if rc == lib.SQLITE_OK {
		o.disk.write(o.name, pending{at: size})
	}
	return rc
}

func layerSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	o := faults.at(file)
	if !o.disk.sync(o.name) {
		return lib.SQLITE_IOERR_FSYNC
	}
	return call[syncCall](o.methods.FxSync)(tls, file, flags)
}
