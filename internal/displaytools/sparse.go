package displaytools

import (
	"io"
	"os"
)

// sparse reads the first size bytes of a file. It does not ask the system for
// the holes of a sparse file, which would fill the page cache with zeros, and
// passes them over at once where skip is called.
type sparse struct {
	f         *os.File
	size, pos int64
	hole      int64 // up to here there are only zeros
	data      int64 // up to here there may be data
}

// Read implements [io.Reader].
func (s *sparse) Read(p []byte) (int, error) {
	if s.pos >= s.size {
		return 0, io.EOF
	}
	s.look()
	if s.pos < s.hole {
		n := int(min(int64(len(p)), s.hole-s.pos))
		clear(p[:n])
		s.pos += int64(n)
		return n, nil
	}
	n, err := s.f.ReadAt(p[:min(int64(len(p)), s.data-s.pos)], s.pos)
	s.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil // if the file was cut, the next call says so
	}
	return n, err
}

func (s *sparse) look() {
	if s.pos >= s.hole && s.pos >= s.data {
		s.hole, s.data = s.extent()
	}
}

// skip passes the hole at the current place, if there is one, and returns its
// length.
func (s *sparse) skip() int64 {
	if s.pos >= s.size {
		return 0
	}
	s.look()
	n := max(s.hole-s.pos, 0)
	s.pos += n
	return n
}

// left is how many bytes have not been read.
func (s *sparse) left() int64 { return s.size - s.pos }
