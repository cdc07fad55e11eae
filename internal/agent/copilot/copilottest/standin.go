package copilottest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// standIn is a scripted GitHub Copilot CLI: a program that calls [Main] under the
// name copilot, with its script in a file beside it. It speaks the protocol of
// version 1.0.102 and behaves as that does between the lines of the script.
//
// The script is a txtar file. The file "connect" holds the answer to connect;
// "METHOD" the answer to another method, or "error TEXT", or "hang"; "offer" names
// tools that are offered whatever the client allows, and "stubborn", if there is
// such a file, leaves none out later; "begins late" has a prompt that begins with late
// begin only after it was stopped once; "> WORD" is what happens upon a prompt that
// begins with WORD, one directive a line:
//
//	event[@AGENT] TYPE JSON   an event; $S, $M, $ARG, $ARG1, $ARG2, $TEXT are filled in
//	await METHOD              until the client calls METHOD; $TEXT is then its text
//	request METHOD JSON       a request to the client; $TEXT is then its answer
//	write FILE                a file of the workspace, if the last answer approved
//	hang                      until the turn is aborted
//	slowly COUNT TYPE JSON    so many events, 10 ms apart
//	stamps COUNT              so many pieces of a message, 500 µs apart, that say when they were sent
//	late TYPE JSON            an event behind the end of the turn
//	after METHOD JSON         a request behind it
//	offer TOOL                one more tool is offered
//	child FILE                starts "sleep 600" as a child, its pid goes to FILE
//	raw TEXT                  bytes that are not a frame
//	stderr TEXT               a line on standard error
//	die                       kill -9
//	exit CODE
//
// A turn ends with assistant.idle and session.idle, and begins with user.message
// unless the first directive is "silent".
type standIn struct {
	script map[string]string
	log    *os.File // every message that came, one a line

	mu       sync.Mutex // guards what follows, and writes
	sessions map[string]*standInSession
	waiting  map[string]chan json.RawMessage // answers to our requests
	nextID   int
	dir      string
}

type standInSession struct {
	id      string
	cancel  context.CancelFunc // of the running turn; nil: none
	calls   chan rpcMessage    // what the client calls during a turn
	dir     string
	late    []string
	after   []string
	turns   sync.Mutex // held while one runs
	unbegun func()     // begins with a prompt that came, and was stopped before

	mu    sync.Mutex // guards offer
	offer []string
}

type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// Main is main of the stand-in.
func Main() {
	dir := filepath.Dir(os.Args[0])
	s := &standIn{
		dir:      dir,
		script:   map[string]string{},
		sessions: map[string]*standInSession{},
		waiting:  map[string]chan json.RawMessage{},
	}
	a, err := txtar.ParseFile(filepath.Join(dir, "script"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for _, f := range a.Files {
		s.script[f.Name] = strings.TrimRight(string(f.Data), "\n")
	}
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(s.script["--version"])
		killSelf()
		return
	}
	if text, ok := s.script["start"]; ok {
		s.turn(&standInSession{}, strings.Split(text, "\n"), "", "")
	}
	if s.log, err = os.OpenFile(filepath.Join(dir, "log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY,
		0o600); err != nil {
		os.Exit(3)
	}
	if before, err := os.ReadFile(s.log.Name()); err == nil {
		// ids of messages do not come again after a restart
		s.nextID = strings.Count(string(before), "\n")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		body, err := readFrame(in)
		if err != nil {
			killSelf() // what the race detector does at a clean end takes a second
		}
		var m rpcMessage
		if json.Unmarshal(body, &m) != nil {
			continue
		}
		s.mu.Lock()
		_, _ = s.log.Write(append(body, '\n'))
		answer := s.waiting[string(m.ID)]
		s.mu.Unlock()
		if m.Method == "" {
			if answer != nil {
				answer <- m.Result
			}
			continue
		}
		s.handle(m)
	}
}

// startSleeper starts what a CLI that is killed would leave behind.
func startSleeper(pidFile string) {
	c := exec.Command("sleep", "600")
	if c.Start() == nil {
		_ = os.WriteFile(pidFile, []byte(strconv.Itoa(c.Process.Pid)), 0o600)
	}
}

func killSelf() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}

func readFrame(r *bufio.Reader) ([]byte, error) {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if _, v, ok := strings.Cut(line, ":"); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(v))
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

func (s *standIn) send(m rpcMessage) {
	m.JSONRPC = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf("Content-Length: %d\r\n\r\n%s", len(b), b)
}

func (s *standIn) event(id, agent, kind, data string) {
	if data == "" {
		data = "{}"
	}
	var of struct{ MessageID string }
	_ = json.Unmarshal([]byte(data), &of) // data of another shape has none
	e := map[string]any{"type": kind, "data": json.RawMessage(data), "id": "e" + of.MessageID,
		"timestamp": "2026-01-01T00:00:00Z"}
	if agent != "" {
		e["agentId"] = agent
	}
	p, err := json.Marshal(map[string]any{"sessionId": id, "event": e})
	if err != nil {
		panic(kind + " " + data + ": " + err.Error())
	}
	s.send(rpcMessage{Method: "session.event", Params: p})
}

// begin runs the script of a prompt.
func (s *standIn) begin(session *standInSession, messageID, prompt string) {
	word, arg, _ := strings.Cut(prompt, " ")
	text, ok := s.script["> "+word]
	if !ok {
		text = `event assistant.turn_start {"turnId":"0"}
event assistant.message_delta {"messageId":"$M-a","deltaContent":"You said "}
event assistant.message_delta {"messageId":"$M-a","deltaContent":"something."}
event assistant.message {"messageId":"$M-a","content":"You said something."}
event assistant.turn_end {"turnId":"0"}`
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	session.cancel = cancel
	s.mu.Unlock()
	go func() {
		session.turns.Lock()
		defer session.turns.Unlock()
		lines := strings.Split(text, "\n")
		if lines[0] == "silent" {
			lines = lines[1:]
		} else {
			s.event(session.id, "", "user.message", `{"messageId":"`+messageID+
				`","delivery":"idle","content":"secret prompt"}`)
		}
		s.turnCtx(ctx, session, lines, messageID, arg)
		idle := `{}`
		if ctx.Err() != nil {
			idle = `{"aborted":true}`
			s.event(session.id, "", "abort", `{"reason":"user_initiated"}`)
			s.event(session.id, "", "assistant.turn_end", `{"turnId":"0"}`)
		}
		s.mu.Lock()
		session.cancel = nil
		s.mu.Unlock()
		s.event(session.id, "", "assistant.idle", idle)
		s.event(session.id, "", "session.idle", idle)
		for _, l := range session.late {
			kind, data, _ := strings.Cut(l, " ")
			s.event(session.id, "", kind, data)
		}
		for _, l := range session.after {
			method, params, _ := strings.Cut(l, " ")
			s.ask(context.Background(), method, params)
		}
		session.late, session.after = nil, nil
	}()
}

func (s *standIn) turn(session *standInSession, lines []string, messageID, arg string) {
	s.turnCtx(context.Background(), session, lines, messageID, arg)
}

func (s *standIn) turnCtx(ctx context.Context, session *standInSession, lines []string, messageID,
	arg string) {
	received, quoted := "", strconv.Quote(arg)
	first, second, _ := strings.Cut(quoted[1:len(quoted)-1], " ")
	for _, line := range lines {
		if ctx.Err() != nil {
			return
		}
		line = strings.NewReplacer("$S", session.id, "$M", messageID, "$ARG1", first, "$ARG2", second,
			"$ARG", quoted[1:len(quoted)-1], "$TEXT", received).Replace(line)
		verb, rest, _ := strings.Cut(line, " ")
		verb, agent, _ := strings.Cut(verb, "@")
		kind, data, _ := strings.Cut(rest, " ")
		switch verb {
		case "event":
			s.event(session.id, agent, kind, data)
		case "late":
			session.late = append(session.late, rest)
		case "await":
			received = s.await(ctx, session, rest)
		case "after":
			session.after = append(session.after, rest)
		case "request":
			received = s.ask(ctx, kind, data)
		case "write":
			if received == "approve-once" {
				_ = os.WriteFile(rest, []byte("written\n"), 0o600)
			}
		case "slowly":
			n, _ := strconv.Atoi(kind)
			kind, data, _ = strings.Cut(data, " ")
			for range n {
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					return
				}
				s.event(session.id, "", kind, data)
			}
		case "stamps":
			n, _ := strconv.Atoi(rest)
			tick := time.NewTicker(500 * time.Microsecond)
			defer tick.Stop()
			for range n {
				<-tick.C
				s.event(session.id, "", "assistant.message_delta",
					fmt.Sprintf(`{"messageId":"%s","deltaContent":"%d "}`, messageID, time.Now().UnixNano()))
			}
		case "hang":
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour): // a pending timer: without C, Go ends what waits for nothing
			}
		case "offer":
			session.mu.Lock()
			session.offer = append(session.offer, rest)
			session.mu.Unlock()
			s.event(session.id, "", "session.tools_updated", "{}")
		case "child":
			startSleeper(rest)
		case "raw":
			s.mu.Lock()
			fmt.Println(rest)
			s.mu.Unlock()
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "die":
			killSelf()
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		}
	}
}

// await returns the text of the answer the client gives by a call of method.
func (s *standIn) await(ctx context.Context, session *standInSession, method string) string {
	for {
		select {
		case m := <-session.calls:
			if m.Method != method {
				continue
			}
			var p struct {
				Prompt string
				Result struct{ TextResultForLlm, Kind string }
			}
			_ = json.Unmarshal(m.Params, &p)
			text := strconv.Quote(p.Prompt + p.Result.TextResultForLlm + p.Result.Kind)
			return text[1 : len(text)-1]
		case <-ctx.Done():
			return ""
		}
	}
}

func (s *standIn) ask(ctx context.Context, method, params string) string {
	answer := make(chan json.RawMessage, 1)
	s.mu.Lock()
	s.nextID++
	id := strconv.Itoa(s.nextID)
	s.waiting[id] = answer
	s.mu.Unlock()
	s.send(rpcMessage{ID: json.RawMessage(id), Method: method, Params: json.RawMessage(params)})
	select {
	case r := <-answer:
		var a struct{ Answer string }
		_ = json.Unmarshal(r, &a)
		return a.Answer
	case <-ctx.Done():
		return ""
	}
}
