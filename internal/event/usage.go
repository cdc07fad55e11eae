package event

// UsageScope is what one report of usage is about.
type UsageScope string

// The scopes. The zero value is one call that goes on with the conversation.
const (
	UsageOfTurn UsageScope = "turn" // all calls of a turn: how many is unknown
	// a call beside the conversation: a helper's, or one that sums it up
	UsageAside UsageScope = "aside"
)

// Plus is what u and v are together.
func (u Usage) Plus(v Usage) Usage { return u.and(v, 1) }

// Less is u without v.
func (u Usage) Less(v Usage) Usage { return u.and(v, -1) }

func (u Usage) and(v Usage, sign int64) Usage {
	u.InputTokens += sign * v.InputTokens
	u.OutputTokens += sign * v.OutputTokens
	u.CacheReadTokens += sign * v.CacheReadTokens
	u.Cost += float64(sign) * v.Cost
	u.Calls += sign * v.Calls
	u.Turns += sign * v.Turns
	u.DefinitionTokens += sign * v.DefinitionTokens
	u.EstimatedTokens += sign * v.EstimatedTokens
	u.KeptTokens += sign * v.KeptTokens
	u.OwnTokens += sign * v.OwnTokens
	return u
}

// Net is what was kept out of the calls less what webchat added to them. It is unknown before the
// first call, and if the agent does not report what the tool definitions cost.
func (u Usage) Net() (tokens int64, known bool) {
	return u.KeptTokens - u.OwnTokens, u.Calls+u.Turns > 0 && u.DefinitionTokens > 0
}
