package cage

import "io/fs"

// identify tells no files apart: nothing is confined here.
func identify(fs.FileInfo) (fileID, uint64) { return fileID{}, 1 }

func may(string, bool) bool { return true }
