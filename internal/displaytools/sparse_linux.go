package displaytools

import (
	"errors"
	"syscall"
)

// hole is how long the hole at the current place is, as lseek(2) has it; 0 where data or nothing
// is.
func (s *sparse) hole() int64 {
	const seekData = 3
	if st, err := s.f.Stat(); err != nil || st.Size() < s.size {
		return 0 // cut short meanwhile, or of no size: reading finds the end
	}
	switch data, err := s.f.Seek(s.pos, seekData); {
	case errors.Is(err, syscall.ENXIO): // no more data
		return s.left()
	case err == nil:
		return data - s.pos
	}
	return 0 // a file system without holes
}
