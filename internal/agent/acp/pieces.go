package acp

import (
	"strings"

	"webchat/internal/wording"
)

// mostKept is how many bytes of an output are kept of its begin, and of its end.
const mostKept = 2 << 20

// pieces is an output that comes in pieces. Of very much only the begin and the end are
// kept.
type pieces struct {
	head, tail []byte
	size       int64 // of all that came
}

func (p *pieces) add(text string) {
	p.size += int64(len(text))
	n := min(len(text), mostKept-len(p.head))
	p.head = append(p.head, text[:n]...)
	p.tail = append(p.tail, text[n:]...)
	if over := len(p.tail) - 2*mostKept; over > 0 { // now and then, so that it is not moved each time
		p.tail = append(p.tail[:0], p.tail[len(p.tail)-mostKept:]...)
	}
}

func (p *pieces) text() string {
	tail := p.tail[max(0, len(p.tail)-mostKept):]
	left := p.size - int64(len(p.head)) - int64(len(tail))
	if left == 0 {
		return string(p.head) + string(tail)
	}
	return strings.ToValidUTF8(string(p.head), "") + "\n… " + wording.Size(left) + " left out …\n" + strings.ToValidUTF8(string(tail), "")
}
