package acp

import "encoding/json"

// What is read and written of the protocol, version 1. Fields that are not needed are
// left out: agents add many of their own.

type initialized struct {
	ProtocolVersion   int
	AgentCapabilities struct {
		LoadSession        bool
		PromptCapabilities struct{ Image, EmbeddedContext bool }
		MCPCapabilities    struct{ HTTP bool } `json:"mcpCapabilities"`

		SessionCapabilities struct{ Resume *struct{} }
	}
}

type opened struct {
	SessionID     string `json:"sessionId"`
	Modes         *modes
	ConfigOptions []configOption
}

type modes struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []struct{ ID string }
}

type configOption struct {
	ID, Category, Type string
	CurrentValue       json.RawMessage
	Options            []struct{ Value string }
}

type answered struct {
	StopReason string
	Usage      *struct{ InputTokens, OutputTokens, CachedReadTokens int64 }
}

type notification struct {
	SessionID string `json:"sessionId"`
	Update    update
}

type update struct {
	SessionUpdate string
	Content       json.RawMessage // of a chunk one block, of a call a list
	MessageID     string          `json:"messageId"`

	toolCall

	Used, Size int64 // of a usage_update, in tokens
}

type toolCall struct {
	ToolCallID string `json:"toolCallId"`
	CallTitle  string `json:"title"`
	Name, Kind string
	Status     string
	RawInput   json.RawMessage
	Meta       struct {
		TerminalOutputDelta struct{ Data string } `json:"terminal_output_delta"`
		TerminalExit        *struct {
			ExitCode *int `json:"exit_code"`
		} `json:"terminal_exit"`
		ClaudeCode struct {
			MCPServer struct{ Name string } `json:"mcpServer"`
			Kind      string
		} `json:"claudeCode"`
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
	Options []struct {
		OptionID string `json:"optionId"`
		Name     string
		Kind     string
	}
}

type object = map[string]any
