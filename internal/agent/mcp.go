package agent

// MCPServer is a server of the Model Context Protocol that a user set up for their agents.
type MCPServer struct {
	Type    string // stdio, http or sse
	Command string
	Args    []string
	Env     map[string]string
	Cwd     string
	URL     string
	Headers map[string]string
}

// Where is what the server is reached by, as people read it: without arguments, variables and
// headers, which may hold secrets.
func (m MCPServer) Where() string {
	if m.Type == "stdio" {
		return m.Command
	}
	return m.URL
}
