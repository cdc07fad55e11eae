package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"webchat/internal/contain"
)

const (
	maxHeader = 8 << 10
	maxBad    = 10   // malformed frames in a row, then it is not our protocol
	maxBanner = 1000 // lines in a row that are not JSON: some programs begin with a banner
	// lastWords is how long a peer that stopped taking what we say is still heard: one that died
	// leaves its last frames in the pipe.
	lastWords = 500 * time.Millisecond
)

// errSkip marks a frame that is passed over.
var errSkip = errors.New("frame skipped")

// errBanner marks a line that is not JSON.
var errBanner = fmt.Errorf("%w: a line without JSON", errSkip)

// stream is frames over bytes; it implements jsonrpc2.ObjectStream.
type stream struct {
	rwc io.ReadWriteCloser
	r   *bufio.Reader
	cfg Config
	bad int // malformed frames in a row; only the reader touches it

	writing sync.Mutex // guards writes to rwc

	mu     sync.Mutex // guards cause and closed
	cause  error
	closed bool

	shut func() error // closes rwc, once
}

func newStream(rwc io.ReadWriteCloser, cfg Config) *stream {
	return &stream{
		rwc:  rwc,
		r:    bufio.NewReaderSize(rwc, 64<<10),
		cfg:  cfg,
		shut: sync.OnceValue(rwc.Close),
	}
}

// what is what a panic was in.
const what = "handling what a program sent"

// ReadObject decodes the next well-formed frame into v.
func (s *stream) ReadObject(v any) error {
	_, err := contain.Call(s.cfg.Logger, what, func() (struct{}, error) {
		return struct{}{}, s.readObject(v)
	})
	switch {
	case errors.Is(err, contain.ErrPanic):
		return s.fail(err)
	case errors.Is(s.err(), contain.ErrPanic): // what was read already, an answer too, comes after it
		return s.err()
	}
	return err
}

func (s *stream) readObject(v any) error {
	for {
		frame, err := s.readFrame()
		if err == nil {
			if err = json.Unmarshal(frame, v); err == nil {
				s.bad = 0
				s.lost(frame)
				return nil
			}
			err = fmt.Errorf("%w: not a JSON-RPC message", errSkip)
		}
		if !errors.Is(err, errSkip) {
			return s.fail(err)
		}
		if s.cfg.Skipped != nil {
			s.cfg.Skipped(err)
		}
		limit := maxBad
		if errors.Is(err, errBanner) {
			limit = maxBanner
		}
		if s.bad++; s.bad >= limit {
			return s.fail(fmt.Errorf("%w: %d malformed frames in a row", ErrGarbage, s.bad))
		}
	}
}

// lost hands over an error that answers no request.
func (s *stream) lost(frame []byte) {
	if s.cfg.Lost == nil || !bytes.Contains(frame, []byte(`"error"`)) {
		return
	}
	var m struct {
		ID     any     `json:"id"`
		Method *string `json:"method"`
		Error  *Error  `json:"error"`
	}
	if json.Unmarshal(frame, &m) == nil && m.ID == nil && m.Method == nil && m.Error != nil {
		s.cfg.Lost(m.Error)
	}
}

func (s *stream) readFrame() ([]byte, error) {
	if s.cfg.Framing == Lines {
		return s.readLine()
	}
	n, err := s.readHeader()
	if err != nil {
		return nil, err
	}
	if n > int64(s.cfg.MaxFrame) {
		if _, err := io.CopyN(io.Discard, s.r, n); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %d bytes are over the limit of %d", errSkip, n, s.cfg.MaxFrame)
	}
	var b bytes.Buffer // grows as bytes arrive: a header alone allocates nothing
	if _, err := io.CopyN(&b, s.r, n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readHeader reads up to the empty line and returns the announced length. Bytes that are not a
// header cannot be skipped: where the next frame begins is unknown.
func (s *stream) readHeader() (int64, error) {
	length, read := int64(-1), 0
	for {
		line, err := s.r.ReadSlice('\n')
		if read += len(line); errors.Is(err, bufio.ErrBufferFull) || read > maxHeader {
			return 0, fmt.Errorf("%w: no end of the header in %d bytes", ErrGarbage, maxHeader)
		}
		if err != nil {
			return 0, err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("%w: a header line without a colon", ErrGarbage)
		}
		if strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || length < 0 {
				return 0, fmt.Errorf("%w: Content-Length is not a number", ErrGarbage)
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("%w: a header without Content-Length", ErrGarbage)
	}
	return length, nil
}

// readLine returns the next line from its first brace on: programs are known to print terminal
// escapes (which hold brackets) in front of it. Blank lines are passed over.
func (s *stream) readLine() ([]byte, error) {
	for {
		var line []byte
		tooLong := false
		for {
			part, err := s.r.ReadSlice('\n')
			if len(line)+len(part) > s.cfg.MaxFrame {
				tooLong, line = true, nil
			}
			if !tooLong {
				line = append(line, part...)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err
			}
		}
		if tooLong {
			return nil, fmt.Errorf("%w: a line over the limit of %d bytes", errSkip, s.cfg.MaxFrame)
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if i := bytes.IndexByte(line, '{'); i >= 0 {
			return line[i:], nil
		}
		return nil, errBanner
	}
}

// WriteObject sends one frame, whole or not at all as far as the peer can tell.
func (s *stream) WriteObject(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	frame := append(body, '\n')
	if s.cfg.Framing == Headers {
		frame = append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	// A peer that does not read would hold us for ever; closing frees the write.
	timer := time.AfterFunc(s.cfg.WriteTimeout, func() { _ = s.fail(ErrStuck); _ = s.shut() })
	defer timer.Stop()
	if _, err := s.rwc.Write(frame); err != nil {
		// Its other pipe may stay open, and reading would then wait for ever.
		time.AfterFunc(lastWords, func() { _ = s.shut() })
		return s.fail(err)
	}
	return nil
}

// Close closes the bytes below.
func (s *stream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.shut()
}

// fail remembers the first cause of the end and returns it.
func (s *stream) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil && !s.closed {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // the peer went away in the middle of a frame
		}
		s.cause = err
	}
	return err
}

func (s *stream) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}
