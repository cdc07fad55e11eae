package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"webchat/internal/event"
)

// limit is a budget as a flag or config.yaml gives it: 500k, 5usd.
type limit event.Budget

var errLimit = errors.New(
	"it must be a number of tokens such as 500k, or of dollars such as 5usd; 0 is none")

// String is l as the flag takes it.
func (l limit) String() string {
	switch {
	case l.Money > 0:
		return strconv.FormatFloat(l.Money, 'f', -1, 64) + "usd"
	case l.Tokens > 0:
		return strconv.FormatInt(l.Tokens, 10)
	}
	return ""
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *limit) UnmarshalText(text []byte) error {
	number, factor := strings.ToLower(strings.TrimSpace(string(text))), 1.0
	number, money := strings.CutSuffix(number, "usd")
	if rest, ok := strings.CutPrefix(number, "$"); ok {
		number, money = rest, true
	}
	for suffix, by := range map[string]float64{"k": 1e3, "m": 1e6} {
		if rest, ok := strings.CutSuffix(number, suffix); ok && !money {
			number, factor = rest, by
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if n *= factor; err != nil || !(n >= 0) || n > 1e12 || !money && n != math.Trunc(n) {
		return errLimit
	}
	if *l = (limit{Tokens: int64(n)}); money {
		*l = limit{Money: n}
	}
	return nil
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (l *limit) UnmarshalYAML(n *yaml.Node) error {
	if err := l.UnmarshalText([]byte(n.Value)); n.Kind != yaml.ScalarNode || err != nil {
		return fmt.Errorf("budget: %w", errLimit)
	}
	return nil
}

// budget is what sessions without one of their own may take: the flag's, or else the file's.
func (o *options) budget(c *config) event.Budget {
	if o.Budget == (limit{}) && c.Budget != nil {
		return event.Budget(*c.Budget)
	}
	return event.Budget(o.Budget)
}

// cost is what calls of a model cost, in dollars; false: its prices are not known.
func (c *config) cost(model string, u event.Usage) (dollars float64, known bool) {
	p := c.prices(model)
	_, all := p.Of(u.InputTokens, u.CacheReadTokens, u.OutputTokens)
	return all / 1e6, p.Input > 0
}
