package event

// Plus is what u and v are together.
func (u Usage) Plus(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheReadTokens += v.CacheReadTokens
	u.Cost += v.Cost
	u.Calls += v.Calls
	u.DefinitionTokens += v.DefinitionTokens
	return u
}
