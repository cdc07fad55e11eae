package displaytools

import (
	"encoding/json"

	"webchat/internal/agent"
	"webchat/internal/displays"
)

// makers make the tools of [displays.Tools] for a set; nil where there is nothing that a tool could
// show.
var makers = map[string]func(*Set) agent.Tool{
	displays.RenderFile:   func(s *Set) agent.Tool { return fileTool{s} },
	displays.RunCommand:   func(s *Set) agent.Tool { return commandTool{s} },
	displays.DisplayImage: func(s *Set) agent.Tool { return imageTool{s} },
	displays.ShowInput: given(func(s *Set) bool {
		return s.inputs != nil
	}, func(s *Set) agent.Tool { return inputTool{s} }),
	displays.ShowChange: given(func(s *Set) bool {
		return s.before != nil
	}, func(s *Set) agent.Tool { return changeTool{s} }),
	displays.ShowResult: given(func(s *Set) bool {
		return s.results != nil
	}, func(s *Set) agent.Tool { return resultTool{s} }),
	displays.ShowHeld: given(func(s *Set) bool {
		return s.held != nil
	}, func(s *Set) agent.Tool { return heldTool{s} }),
}

func given(has func(*Set) bool, make func(*Set) agent.Tool) func(*Set) agent.Tool {
	return func(s *Set) agent.Tool {
		if !has(s) {
			return nil
		}
		return make(s)
	}
}

// specOf is how a tool is offered.
func specOf(name string) agent.ToolSpec {
	t, _ := displays.ToolOf(name) // every name here is in the table
	return agent.ToolSpec{
		Final:       !t.Own,
		UserOnly:    t.Own,
		Name:        t.Name,
		Description: t.About,
		Parameters:  json.RawMessage(t.Parameters),
	}
}

// Specs returns how the tools are offered.
func Specs() (specs []agent.ToolSpec) {
	for _, t := range displays.Tools {
		if !t.Own {
			specs = append(specs, specOf(t.Name))
		}
	}
	return specs
}
