package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/veil"
	"webchat/internal/wording"
)

const (
	mostFields   = 24   // of a form
	longestAsked = 1000 // characters of what a server says about one
)

// The choices of questions that a server asks.
const (
	chooseDecline = "Decline"
	chooseEmpty   = "Leave it empty"
	chooseAccept  = "Accept"
	chooseOpened  = "I opened it"
	chooseYes     = "Yes"
	chooseNo      = "No"
)

// field is a field of a form.
type field struct {
	Name        string   `json:"-"`
	Type        string   `json:"type"` // string, number, integer, boolean, or array of choices
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Enum        []string `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []choice `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
	MinItems int  `json:"minItems"`
	MaxItems int  `json:"maxItems"` // 0: any number
	Default  any  `json:"default"`
	Required bool `json:"-"`
}

// choice is a value of a field with its name.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

const several = "array"

// secret reports whether a field asks for what must not be written into a form.
func (f field) secret() bool {
	return veil.Column(f.Name) || veil.Column(f.Title)
}

// fieldsOf reads the fields of a form: those that are required first.
func fieldsOf(schema any) (all []field, err error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var form struct {
		Properties map[string]field
		Required   []string
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, fmt.Errorf("the form cannot be read: %w", err)
	}
	if len(form.Properties) > mostFields {
		return nil, fmt.Errorf("the form has more than %d fields", mostFields)
	}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		f := form.Properties[name]
		f.Name, f.Required = name, slices.Contains(form.Required, name)
		switch {
		case f.secret():
			return nil, fmt.Errorf("the field %q asks for a secret, which no form may do: "+
				"ask for it by an address (mode url)", name)
		case !slices.Contains([]string{"string", "number", "integer", "boolean"}, f.Type) &&
			(f.Type != several || len(f.names()) == 0):
			return nil, fmt.Errorf("the field %q is neither a text, a number nor a choice", name)
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b field) int {
		return cmp.Compare(strconv.FormatBool(b.Required), strconv.FormatBool(a.Required))
	})
	return all, nil
}

// question asks for a field. Behind the choices of the field come those of each.
func (f field) question() (q agent.Question) {
	q.Question = cmp.Or(f.Title, f.Name)
	if f.Description != "" {
		q.Question += ": " + f.Description
	}
	if f.Default != nil {
		q.Question += fmt.Sprintf(" (%v is the default)", f.Default)
	}
	switch q.Choices = f.names(); f.Type {
	case "boolean":
		q.Choices = []string{chooseYes, chooseNo}
	case several:
		q.Question += ". Any of these, with commas between them: " + strings.Join(q.Choices, ", ")
		q.Choices = nil
	}
	q.AllowFreeform = len(q.Choices) == 0
	if !f.Required {
		q.Choices = append(q.Choices, chooseEmpty)
	}
	return q
}

// names are the names of what can be chosen, in the order of values.
func (f field) names() (names []string) {
	for _, o := range append(slices.Clip(f.OneOf), f.Items.AnyOf...) {
		names = append(names, cmp.Or(o.Title, o.Const))
	}
	for i, value := range append(slices.Clip(f.Enum), f.Items.Enum...) {
		if i < len(f.EnumNames) {
			value = f.EnumNames[i]
		}
		names = append(names, value)
	}
	return names
}

// value is what the user's answer is in JSON; false: it is not one of the field's type.
func (f field) value(answer string) (any, bool) {
	if f.Type == several {
		return f.values(answer)
	}
	if i := slices.Index(f.names(), answer); i >= 0 {
		titled := append(slices.Clip(f.OneOf), f.Items.AnyOf...)
		if i < len(titled) {
			return titled[i].Const, true
		}
		return append(slices.Clip(f.Enum), f.Items.Enum...)[i-len(titled)], true
	}
	switch f.Type {
	case "boolean":
		return answer == chooseYes, answer == chooseYes || answer == chooseNo
	case "integer":
		n, err := strconv.ParseInt(strings.TrimSpace(answer), 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(strings.TrimSpace(answer), 64)
		return n, err == nil
	}
	return answer, len(f.names()) == 0
}

// values are those of an answer that names several.
func (f field) values(answer string) (any, bool) {
	single, all := f, []any{}
	single.Type = "string"
	for name := range strings.SplitSeq(answer, ",") {
		v, ok := single.value(strings.TrimSpace(name))
		if !ok {
			return nil, false
		}
		all = append(all, v)
	}
	return all, len(all) >= f.MinItems && (f.MaxItems == 0 || len(all) <= f.MaxItems)
}

// elicit asks the user what a server wants to know in a call: in the page, one question for each
// field, each marked as the server's.
func (c *connected) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	call := c.asking()
	if call == nil { // no call runs in which the user could be asked
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	message := wording.Cut(strings.TrimSpace(r.Params.Message), longestAsked)
	ask := func(q agent.Question) (string, error) {
		q.ToolCallID, q.Choices = call.ToolCallID, append(q.Choices, chooseDecline)
		q.Question = "The MCP server " + c.name + " asks" + wording.Cut(q.Question, 2*longestAsked)
		answer, err := call.Ask(ctx, q)
		if err == nil && !answer.Answered {
			return "", context.Canceled
		}
		return answer.Text, err
	}
	if r.Params.URL != "" {
		return visit(ask, message, r.Params.URL)
	}
	fields, err := fieldsOf(r.Params.RequestedSchema)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	if len(fields) == 0 {
		answer, err := ask(agent.Question{Question: ": " + message, Choices: []string{chooseAccept}})
		return accepted(answer == chooseAccept, nil), err
	}
	content := map[string]any{}
	for i := 0; i < len(fields); {
		q := fields[i].question()
		q.Question = fmt.Sprintf(" (%d of %d): %s — %s", i+1, len(fields), message, q.Question)
		answer, err := ask(q)
		switch {
		case err != nil:
			return nil, err
		case answer == chooseDecline:
			return accepted(false, nil), nil
		case answer == chooseEmpty && !fields[i].Required:
			i++
			continue
		}
		if value, ok := fields[i].value(answer); ok {
			content[fields[i].Name] = value
			i++
		} // else it is asked again
	}
	return accepted(true, content), nil
}

// accepted is the user's answer.
func accepted(yes bool, content map[string]any) *mcp.ElicitResult {
	if !yes {
		return &mcp.ElicitResult{Action: "decline"}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}
}

// visit has the user open a page of the server's. It is opened by them and by nothing else.
func visit(ask func(agent.Question) (string, error), message,
	address string) (*mcp.ElicitResult, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams,
			Message: "only an address with https or http is shown to the user"}
	}
	answer, err := ask(agent.Question{
		Question: " you to open a page of " + u.Host + ": " + message,
		Detail:   linked(&mcp.ResourceLink{Name: u.String(), URI: u.String()}),
		Choices:  []string{chooseOpened},
	})
	if err != nil {
		return nil, err
	}
	return accepted(answer == chooseOpened, nil), nil
}

// asking is a call that runs and in which the user can be asked, the one that began last; nil:
// there is none.
func (c *connected) asking() (last *agent.CallInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.calls {
		if x.info.Ask != nil && (last == nil || x.info.Started.After(last.Started)) {
			last = &x.info
		}
	}
	return last
}

// refuseSampling refuses requests for the user's model.
func refuseSampling(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "sampling/createMessage" {
			return nil, &jsonrpc.Error{Code: -1, // as the specification says of what the user rejects
				Message: "webchat lends no model to MCP servers: use one of your own, or return what the " +
					"agent needs to go on"}
		}
		return next(ctx, method, r)
	}
}
