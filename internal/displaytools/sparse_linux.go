package displaytools

import (
	"errors"
	"syscall"
)

// extent says what is at pos: a hole up to the first result, or data up to the
// second.
func (s *sparse) extent() (hole, data int64) {
	const seekData, seekHole = 3, 4 // of lseek(2)
	// Small files are not worth the calls.
	if st, err := s.f.Stat(); err != nil || s.size < 1<<20 || st.Size() < s.size {
		return 0, s.size // cut short meanwhile, or of no size: plain reading finds the end
	}
	next, err := s.f.Seek(s.pos, seekData)
	switch {
	case errors.Is(err, syscall.ENXIO): // no more data
		return s.size, 0
	case err != nil: // a file system without holes
		return 0, s.size
	case next > s.pos:
		return min(next, s.size), 0
	}
	if end, err := s.f.Seek(s.pos, seekHole); err == nil && end > s.pos {
		return 0, min(end, s.size)
	}
	return 0, s.size
}
