package displaytools

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"webchat/internal/agent"
)

// How much of an output is compared with a later showing of the same: all of its
// bytes up to maxSummed, and line by line up to maxMarked lines.
const (
	maxSummed = 8 << 20
	maxMarked = 1000
)

// fingerprint returns by what a later showing can be compared with this one when
// the content is gone; nil for what is too long.
func fingerprint(shown *io.SectionReader) *agent.Fingerprint {
	if shown.Size() > maxSummed {
		return nil
	}
	var lines []byte
	all := crc32.NewIEEE()
	r := bufio.NewReader(io.TeeReader(shown, all))
	line, n := crc32.NewIEEE(), 0
	for open := false; ; {
		part, err := r.ReadSlice('\n')
		_, _ = line.Write(part) // a hash takes everything
		open = open || len(part) > 0
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if open {
			n++
			lines = binary.BigEndian.AppendUint16(lines, uint16(line.Sum32()))
			line.Reset()
			open = false
		}
		if n > maxMarked {
			lines = nil
			_, err = io.Copy(io.Discard, r)
			if err == nil {
				err = io.EOF
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			return &agent.Fingerprint{Sum: all.Sum32(), Lines: lines}
		}
	}
}
