package displaytools

import (
	"io"
	"os"
)

// sparse reads the first size bytes of a file. The holes of a sparse file are passed over where
// skip is called, since reading them may take hours.
type sparse struct {
	f         *os.File
	size, pos int64
}

// Read implements [io.Reader].
func (s *sparse) Read(p []byte) (int, error) {
	if s.pos >= s.size {
		return 0, io.EOF
	}
	n, err := s.f.ReadAt(p[:min(int64(len(p)), s.size-s.pos)], s.pos)
	s.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil // if the file was cut, the next call says so
	}
	return n, err
}

// skip passes the hole at the current place, if there is one, and returns its length.
func (s *sparse) skip() int64 {
	if s.size < 1<<20 { // not worth the calls
		return 0
	}
	n := min(s.hole(), s.left())
	s.pos += n
	return n
}

// left is how many bytes have not been read.
func (s *sparse) left() int64 { return s.size - s.pos }
