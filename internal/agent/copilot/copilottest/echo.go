package copilottest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Echo is main of a tiny server of the Model Context Protocol on standard input and
// output: one JSON message per line, and two tools that echo their input, of which one says that it
// only reads. Both make the file that ECHO_FILE names.
func Echo() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct{ Text string }
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue // notifications need no answer
		}
		result := `"error":{"code":-32601,"message":"no such method"}`
		switch m.Method {
		case "initialize":
			result = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}`
		case "tools/list":
			result = `"result":{"tools":[{"name":"echo","description":"Says it back.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"peek","description":"Looks.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}`
		case "tools/call":
			if name := os.Getenv("ECHO_FILE"); name != "" {
				_ = os.WriteFile(name, nil, 0o600)
			}
			text, err := json.Marshal("echo: " + m.Params.Arguments.Text + " " + os.Getenv("ECHO_MARK"))
			if err != nil {
				return
			}
			result = `"result":{"content":[{"type":"text","text":` + string(text) + `}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, result)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
