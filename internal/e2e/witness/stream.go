package witness

import (
	"bufio"
	"io"
	"strings"
)

// Frame is one frame of a stream, once it has come whole.
type Frame struct {
	ID   string // empty: it had none
	Data string
}

// Frames calls f with each whole frame and returns how the stream ended: a frame
// that was cut is none, as every reader of such streams has it.
func Frames(r io.Reader, f func(Frame) (goOn bool)) error {
	lines := bufio.NewReader(r)
	var now Frame
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			now.ID = value
		case "data":
			now.Data += value
		case "":
			if now.Data != "" && !f(now) {
				return nil
			}
			now = Frame{}
		}
	}
}
