package outputs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Disk is the file that an output was read from, as it was then.
type Disk struct {
	Name     string // absolute, without links
	Modified time.Time
	Size     int64
}

// DiskState is what became of a file since it was read.
type DiskState int

const (
	Same    DiskState = iota // or not known
	Changed                  // by its size, its time, or what kind of thing has its name
	Gone
)

// Now compares the file with what has its name now.
func (d *Disk) Now() DiskState {
	state, _ := d.Since()
	return state
}

// Since compares the file with what has its name now, and says when that was written, at the cost
// of one lstat: nothing is opened or read. What was moved away and back is the same.
func (d *Disk) Since() (DiskState, time.Time) {
	if d == nil {
		return Same, time.Time{}
	}
	st, err := os.Lstat(d.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Gone, time.Time{}
	case err != nil:
		return Same, time.Time{}
	case !st.Mode().IsRegular() || st.Size() != d.Size || !st.ModTime().Equal(d.Modified):
		return Changed, st.ModTime()
	}
	return Same, st.ModTime()
}
