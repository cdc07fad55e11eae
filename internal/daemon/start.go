package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"webchat/internal/proc"
)

// logName is the file of the data folder with what servers in the background report.
const logName = "server.log"

// mostLog is how many bytes it has at most, but for what is not written by a [LogWriter]. Then it
// keeps its last half.
const mostLog = 1 << 20

// LogWriter returns what a server of the data folder dir reports to: w, but kept from growing
// without end if w is the log of a server in the background.
func LogWriter(dir string, w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return w
	}
	name := filepath.Join(dir, logName)
	st, err1 := f.Stat()
	log, err2 := os.Stat(name)
	if err1 != nil || err2 != nil || !os.SameFile(st, log) {
		return w
	}
	return &boundedLog{file: f, name: name, size: st.Size()}
}

// boundedLog is a file to which this process appends.
type boundedLog struct {
	file *os.File
	name string

	mu   sync.Mutex
	size int64 // guarded by mu
}

func (l *boundedLog) Write(p []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > mostLog {
		l.shorten()
	}
	n, err = l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// shorten keeps the last lines. What is reported matters more than that it worked.
func (l *boundedLog) shorten() {
	var kept []byte
	if f, err := os.Open(l.name); err == nil {
		kept, _ = io.ReadAll(io.NewSectionReader(f, max(0, l.size-mostLog/2), mostLog))
		f.Close()
	}
	if l.file.Truncate(0) != nil {
		return
	}
	_, kept, _ = bytes.Cut(kept, []byte("\n"))
	n, _ := l.file.Write(kept)
	l.size = int64(n)
}

// Starter returns what starts a server for the data folder dir that outlives this process,
// by the command line and environment that command returns. The first call starts it.
// Every call returns an error: one that wraps [ErrInUse] while a server starts or runs,
// else why it has ended.
func Starter(dir string, stderr io.Writer,
	command func() (args, env []string, err error)) func() error {
	name := filepath.Join(dir, logName)
	var running func() bool
	return func() error {
		if running == nil {
			args, env, err := command()
			if err != nil {
				return err
			}
			if running, err = start(name, args, env); err != nil {
				return fmt.Errorf("start webchat in the background: %w", err)
			}
			fmt.Fprintf(stderr,
				"webchat: started a server in the background; \"webchat stop\" ends it, its log is %s\n", name)
		}
		if !running() {
			if held, err := isLocked(dir); err == nil && !held { // else another one was faster
				return fmt.Errorf("the server that was started in the background has ended: %s", lastLine(name))
			}
		}
		return fmt.Errorf(
			"the data folder %s %w by a server that does not answer yet; try again, or see %s", dir,
			ErrInUse, name)
	}
}

func start(log string, args, env []string) (running func() bool, err error) {
	mode := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	// of servers that never came to bound it
	if info, err := os.Stat(log); err == nil && info.Size() > mostLog {
		mode |= os.O_TRUNC
	}
	f, err := os.OpenFile(log, mode, 0o600)
	if err != nil {
		return nil, err
	}
	running, err = proc.Leave(args, env, f)
	return running, errors.Join(err, f.Close())
}

// lastLine is a server's last line of output, which is why it ended.
func lastLine(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	text = bytes.TrimSpace(text)
	return string(bytes.TrimPrefix(text[bytes.LastIndexByte(text, '\n')+1:], []byte("webchat: ")))
}
