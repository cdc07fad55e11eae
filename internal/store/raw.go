package store

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// raw is the file and its journal as the disk has them, read without SQLite, which reads neither
// again while it has them open. SQLite changes the file only when [file.fold] moves there what the
// journal has, so a file that differs from what it was after that was changed by another program.
// What the journal has to begin with, and how long it is, says its index, which SQLite shares with
// its connections. Offsets are those of SQLite's file format and of its WAL-mode file format.
//
// It belongs to the holder of the baton.
type raw struct {
	main, journal place
	index         *os.File

	size int64          // of the file, as this program wrote it last
	head [headSize]byte // likewise
	now  journal        // as it was found last
	fold uint32         // from how many frames on it is folded
}

// headSize is that of the header of a file of SQLite.
const headSize = 100

// foldAt is how many pages the journal has before it is folded.
const foldAt = 1000

// journal is what its index says of it.
type journal struct {
	frames, folded, page uint32  // folded frames are in the file, too
	salts                [8]byte // other ones each time it begins anew
}

// openRaw opens what SQLite has open. The descriptors stay open as long as SQLite's: to close one
// ends the locks of this process on the file.
func openRaw(path string) (_ *raw, err error) {
	r := &raw{fold: foldAt}
	if r.main, err = openPlace(path); err == nil {
		r.journal, err = openPlace(path + "-wal")
	}
	if err == nil {
		r.index, err = os.Open(path + "-shm")
	}
	if err == nil {
		err = r.note()
	}
	if err == nil {
		r.now, err = r.readIndex()
	}
	if err != nil {
		r.close()
		return nil, fileError(err)
	}
	return r, nil
}

func (r *raw) close() {
	for _, f := range []*os.File{r.main.file, r.journal.file, r.index} {
		if f != nil {
			_ = f.Close() // it was only read
		}
	}
}

// note takes the file as it is for what this program wrote.
func (r *raw) note() error {
	fi, err := r.main.file.Stat()
	if err == nil {
		r.size = fi.Size()
		_, err = r.main.file.ReadAt(r.head[:], 0)
	}
	return err
}

func (r *raw) readIndex() (j journal, err error) {
	var b [100]byte
	if _, err := r.index.ReadAt(b[:], 0); err != nil {
		return j, err
	}
	j.frames, j.folded = binary.NativeEndian.Uint32(b[16:]), binary.NativeEndian.Uint32(b[96:])
	if j.page = uint32(binary.NativeEndian.Uint16(b[14:])); j.page == 1 {
		j.page = 1 << 16
	}
	copy(j.salts[:], b[32:])
	return j, nil
}

// check returns an error if another file is in the place of one of the two, or if another program
// wrote into one.
func (r *raw) check() error {
	main, err := r.main.check()
	if err != nil {
		return err
	}
	journal, err := r.journal.check()
	if err != nil {
		return err
	}
	return r.unchanged(main.Size(), journal.Size())
}

// unchanged returns an error if another program wrote into the file or the journal, which are of
// these sizes.
func (r *raw) unchanged(size, journal int64) (err error) {
	var head [headSize]byte
	_, err = r.main.file.ReadAt(head[:], 0)
	if errors.Is(err, io.EOF) || err == nil && (size != r.size || head != r.head) {
		return overwritten(r.main.path)
	}
	if err == nil {
		r.now, err = r.readIndex()
	}
	if err != nil {
		return fileError(err)
	}
	if r.now.frames == 0 {
		return nil // it is not written before it is needed
	}
	if journal < 32+int64(r.now.frames)*(24+int64(r.now.page)) {
		return overwritten(r.journal.path)
	}
	salts, err := saltsOf(r.journal.file)
	if err == nil && salts != r.now.salts {
		return overwritten(r.journal.path)
	}
	return fileError(err)
}

// saltsOf reads those of a journal.
func saltsOf(journal io.ReaderAt) (salts [8]byte, err error) {
	_, err = journal.ReadAt(salts[:], 16)
	return salts, err
}

// own is [raw.unchanged] for the files that are open, wherever they are.
func (r *raw) own() error {
	main, err := r.main.file.Stat()
	if err != nil {
		return fileError(err)
	}
	journal, err := r.journal.file.Stat()
	if err != nil {
		return fileError(err)
	}
	return r.unchanged(main.Size(), journal.Size())
}

// fold moves what is in the journal into the file, in one of SQLite's modes, and reports whether
// that was all of it: readers of an older state keep some back.
func (f *file) fold(ctx context.Context, mode string) (all bool, err error) {
	if err := f.raw.own(); err != nil {
		return false, err
	}
	if f.raw.now.folded < f.raw.now.frames {
		// The counter in the header is to tell this state of the file from all others. SQLite
		// counts on only when it has read the first page anew. A disk that does not take it may
		// still be folded.
		_, err := f.exec(ctx, `PRAGMA shrink_memory`)
		if err == nil {
			_, _ = f.exec(ctx, fmt.Sprint(`PRAGMA application_id = `, applicationID))
		}
		f.noteUnknown()
	}
	var busy, frames, moved int
	err = f.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &frames, &moved)
	err = errors.Join(translated(err), fileError(f.raw.note()))
	if f.raw.fold = foldAt; err != nil || moved < frames {
		f.raw.fold = max(foldAt, f.raw.now.frames+foldAt/4)
	}
	if err == nil {
		f.raw.now, err = f.raw.readIndex()
	}
	f.noteOwn()
	return busy == 0, err
}

// foldLong folds a journal that has become long. What fails is tried again, and nothing of it is
// lost.
func (f *file) foldLong(ctx context.Context) error {
	if f.raw.now.frames < f.raw.fold || f.raw.now.frames == f.raw.now.folded {
		return nil
	}
	_, err := f.fold(ctx, "PASSIVE")
	return err
}

// strange reports whether the journal beside a file is that of another file, which was there when
// this program wrote last: SQLite would take it for this one's.
func strange(path string) (bool, error) {
	l, err := readLast(path)
	if err != nil || l.Journal == "" {
		return false, err
	}
	main, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fileError(err)
	}
	defer main.Close()
	journal, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fileError(err)
	}
	defer journal.Close()
	var head [headSize]byte
	fi, err := main.Stat()
	if err == nil {
		_, err = main.ReadAt(head[:], 0)
	}
	salts, err2 := saltsOf(journal)
	if err = errors.Join(err, err2); errors.Is(err, io.EOF) {
		return false, nil // one of them is as good as not there
	}
	if err != nil {
		return false, fileError(err)
	}
	own := fi.Size() == l.Size && counterOf(head) == l.Counter
	return !own && hex.EncodeToString(salts[:]) == l.Journal, nil
}

// counterOf is what a header counts changes by.
func counterOf(head [headSize]byte) uint32 { return binary.BigEndian.Uint32(head[24:]) }
