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

// limits are budgets as a flag or config.yaml gives them, of a session and of a day:
// 500k,5usd/day.
type limits struct{ session, day event.Budget }

var errLimit = errors.New(
	"it must be a number of tokens such as 500k, or of dollars such as 5usd, " +
		"for each session; with /day, for all sessions of a day; both with a comma; 0 is none")

// String is l as the flag takes it.
func (l limits) String() string {
	var all []string
	for _, limit := range []struct {
		event.Budget
		of string
	}{{l.session, ""}, {l.day, perDay}} {
		switch {
		case limit.Money > 0:
			all = append(all, strconv.FormatFloat(limit.Money, 'f', -1, 64)+"usd"+limit.of)
		case limit.Tokens > 0:
			all = append(all, strconv.FormatInt(limit.Tokens, 10)+limit.of)
		}
	}
	return strings.Join(all, ",")
}

const perDay = "/day"

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *limits) UnmarshalText(text []byte) error {
	*l = limits{}
	for part := range strings.SplitSeq(strings.ToLower(string(text)), ",") {
		number, ofDay := strings.CutSuffix(strings.TrimSpace(part), perDay)
		b, err := limitOf(number)
		if err != nil {
			return err
		}
		if ofDay {
			l.day = b
		} else {
			l.session = b
		}
	}
	return nil
}

// limitOf is one of them.
func limitOf(number string) (event.Budget, error) {
	factor := 1.0
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
		return event.Budget{}, errLimit
	}
	if money {
		return event.Budget{Money: n}, nil
	}
	return event.Budget{Tokens: int64(n)}, nil
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (l *limits) UnmarshalYAML(n *yaml.Node) error {
	if err := l.UnmarshalText([]byte(n.Value)); n.Kind != yaml.ScalarNode || err != nil {
		return fmt.Errorf("budget: %w", errLimit)
	}
	return nil
}

// budget is what sessions without one of their own may take, and all of them on a day: the flag's,
// or else the file's.
func (o setup) budget() limits {
	if o.Budget == (limits{}) && o.c.Budget != nil {
		return *o.c.Budget
	}
	return o.Budget
}

// cost is what calls of a model cost, in dollars; false: its prices are not known.
func (c *config) cost(model string, u event.Usage) (dollars float64, known bool) {
	p := c.prices(model)
	_, all := p.Of(u.InputTokens, u.CacheReadTokens, u.OutputTokens)
	return all / 1e6, p.Input > 0
}
