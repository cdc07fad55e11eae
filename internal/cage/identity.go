package cage

// fileID identifies a file, whatever its names.
type fileID struct{ device, inode uint64 }
