package chaos

import (
	"bufio"
	"io"
	"strings"
)

// frame is one frame of a stream, once it has come whole.
type frame struct {
	id   string // empty: it had none
	data string
}

// frames calls f with each whole frame and returns how the stream ended: a frame
// that was cut is none, as every reader of such streams has it.
func frames(r io.Reader, f func(frame) (goOn bool)) error {
	lines := bufio.NewReader(r)
	var now frame
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			now.id = value
		case "data":
			now.data += value
		case "":
			if now.data != "" && !f(now) {
				return nil
			}
			now = frame{}
		}
	}
}
