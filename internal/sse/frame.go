package sse

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

// Frame is one event of a stream.
type Frame struct {
	// ID is what a client sends back as Last-Event-ID. Zero or less writes no id line: the client
	// keeps the id it has.
	ID int64
	// Pos places the frame among the live frames of its topic, for joining a replay to them; it is
	// not sent. Zero or less means that the frame has no place and is never dropped as already
	// replayed.
	Pos int64
	// Event is the optional name; empty means the default, "message". Line ends and NUL are left
	// out of it.
	Event string
	// Data is the payload. Each line end in it, be it LF, CR LF or CR, starts another data line,
	// which a client reads as LF. Empty Data writes no data line: such a frame only moves the
	// client's last id, and its page sees nothing.
	Data []byte
}

// appendFrame appends the frame as it goes over the wire, blank line included.
func appendFrame(dst []byte, f Frame) []byte {
	if f.ID > 0 {
		dst = append(dst, "id: "...)
		dst = strconv.AppendInt(dst, f.ID, 10)
		dst = append(dst, '\n')
	}
	if f.Event != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, names.Replace(f.Event)...)
		dst = append(dst, '\n')
	}
	dst = appendData(dst, f.Data)
	return append(dst, '\n')
}

var (
	lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")
	names    = strings.NewReplacer("\r", "", "\n", "", "\x00", "")
)

func appendData(dst, data []byte) []byte {
	if len(data) == 0 {
		return dst
	}
	// Ordinary JSON holds none, which a search for one byte finds out many times faster.
	if bytes.IndexByte(data, '\r') >= 0 {
		data = []byte(lineEnds.Replace(string(data)))
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		dst = append(dst, "data: "...)
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst
}

func appendRetry(dst []byte, d time.Duration) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, max(d.Milliseconds(), 1), 10)
	return append(dst, "\n\n"...)
}

// Between Publish and a client's buffer a frame travels as a record: how many bytes of records were
// published before it, its Pos, the length of its text, and the text. Records follow each other
// without separators, so many are one event to r3labs, and each client can choose from them when it
// reads.
const recordHead = 8 + 8 + 8

// maxRecord is at least the size of a frame's record whose data is one line.
func maxRecord(f Frame) int {
	return recordHead + len("id: \nevent: \ndata: \n\n") + 19 + len(f.Event) + len(f.Data)
}

func appendRecord(dst []byte, at int64, f Frame) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(at))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(max(f.Pos, 0)))
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	start := len(dst)
	dst = appendFrame(dst, f)
	binary.LittleEndian.PutUint64(dst[start-8:], uint64(len(dst)-start))
	return dst
}

// appendLive appends the text of those records that were published after from and have no Pos up to
// pos, and returns how many bytes were published up to their end. dst may be the beginning of
// records.
func appendLive(dst, records []byte, from, pos int64) (_ []byte, end int64) {
	for end = from; len(records) > 0; {
		at, place := int64(binary.LittleEndian.Uint64(records)),
			int64(binary.LittleEndian.Uint64(records[8:]))
		size := recordHead + int(binary.LittleEndian.Uint64(records[16:]))
		if at >= from {
			end = at + int64(size)
			if place == 0 || place > pos {
				dst = append(dst, records[recordHead:size]...)
			}
		}
		records = records[size:]
	}
	return dst, end
}
