package policy

import (
	"io/fs"
	"time"
)

// identity knows nothing: the description of a file does not tell how many names it
// has.
func identity(fs.FileInfo) (id fileID, names uint64, changed time.Time) {
	return fileID{}, 0, time.Time{}
}
