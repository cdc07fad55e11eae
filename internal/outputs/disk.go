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

// Now compares the file with what has its name now, at the cost of one lstat: nothing is opened or
// read. What was moved away and back is the same.
func (d *Disk) Now() DiskState {
	if d == nil {
		return Same
	}
	st, err := os.Lstat(d.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Gone
	case err == nil && (!st.Mode().IsRegular() || st.Size() != d.Size || !st.ModTime().Equal(d.Modified)):
		return Changed
	}
	return Same
}
