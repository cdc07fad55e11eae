package cage

import "io/fs"

// fileID identifies nothing here, where nothing is confined.
type fileID struct{}

func identify(fs.FileInfo) (fileID, uint64) { return fileID{}, 1 }

func may(string, bool) bool { return true }
