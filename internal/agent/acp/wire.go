package acp

import "encoding/json"

// What is read and written of the protocol, version 1. Fields that are not needed are left out:
// agents add many of their own.

type initialized struct {
	ProtocolVersion   int
	AgentCapabilities struct {
		LoadSession        bool
		PromptCapabilities struct{ Image, EmbeddedContext bool }
		MCPCapabilities    struct{ HTTP, SSE bool } `json:"mcpCapabilities"`

		SessionCapabilities struct{ Resume, Delete *struct{} }
	}
	AgentInfo struct{ Version string }
}

type opened struct {
	SessionID     string `json:"sessionId"`
	Modes         modes
	Models        models
	ConfigOptions []configOption
}

type modes struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []struct{ ID, Name, Description string }
}

type models struct {
	CurrentModelID  string `json:"currentModelId"`
	AvailableModels []struct {
		ModelID string `json:"modelId"`
		Name    string
	}
}

type configOption struct {
	ID, Category string
	CurrentValue json.RawMessage
	Options      []option

	method, field string // of modes and models, which are set otherwise
}

// option is a choice, or a group of some.
type option struct {
	Value, Name, Description string
	Options                  []option
}

type command struct {
	Name, Description string
	Input             struct{ Hint string }
}

type answered struct {
	StopReason string
	Usage      *struct{ InputTokens, OutputTokens, CachedReadTokens int64 }
	Meta       struct {
		Quota struct {
			TokenCount struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"token_count"`
		}
	} `json:"_meta"` // of Gemini CLI
}

type notification struct {
	SessionID string `json:"sessionId"`
	Update    update
	Message   retry // of ownMessage
}

type update struct {
	SessionUpdate string
	Content       json.RawMessage // of a chunk one block, of a call a list
	MessageID     string          `json:"messageId"`

	toolCall

	Used, Size        int64                              // of a usage_update, in tokens
	Entries           []struct{ Content, Status string } // of a plan
	ConfigOptions     []configOption
	CurrentModeID     string `json:"currentModeId"`
	AvailableCommands []command
}

type toolCall struct {
	ToolCallID string `json:"toolCallId"`
	CallTitle  string `json:"title"`
	Name, Kind string
	Status     string
	RawInput   json.RawMessage
	RawOutput  json.RawMessage
	Locations  []struct{ Path string }
	Meta       struct {
		TerminalOutputDelta struct{ Data string } `json:"terminal_output_delta"`
		TerminalExit        *struct {
			ExitCode *int `json:"exit_code"`
		} `json:"terminal_exit"`
		ClaudeCode struct {
			MCPServer struct{ Name, Source string } `json:"mcpServer"`
			ToolName  string                        `json:"toolName"`
			Kind      string
		} `json:"claudeCode"`
		Codex struct {
			ThreadStatus struct{ Type string } `json:"threadStatus"` // systemError: the turn failed
		} `json:"codex"`
		MCPToolCall                           bool   `json:"is_mcp_tool_call"` // of Codex
		Provenance, ServerID, ToolName, Phase string // of Qwen Code
	} `json:"_meta"`
}

// part is one piece of what a call shows.
type part struct {
	Type             string
	Content          block
	Path             string
	OldText, NewText *string
}

type block struct{ Type, Text string }

type permission struct {
	ToolCall struct {
		toolCall
		Content []part
	}
	Options []permissionOption
	Meta    struct {
		ToolApproval bool `json:"is_mcp_tool_approval"` // of Codex
	} `json:"_meta"`
}

type permissionOption struct {
	OptionID   string `json:"optionId"`
	Name, Kind string
}

type object = map[string]any
