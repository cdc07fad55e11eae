package session

import (
	"testing"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// What a call is charged by how its agent counts, and when it is an estimate.
func TestBill(t *testing.T) {
	shown := eventlog.Open{Text: 4_000, Held: []eventlog.Held{{Seq: 1, Shown: 300, Sent: 9},
		{Seq: 2, Shown: 100_000, Sent: 11}}}
	call := event.AssistantUsage{InputTokens: 30_000, OutputTokens: 50, DefinitionTokens: 240}
	one := event.Usage{
		Calls:            1,
		InputTokens:      30_000,
		OutputTokens:     50,
		DefinitionTokens: 240,
		KeptTokens:       98_000,
		OwnTokens:        260,
	}
	for _, c := range []struct {
		name     string
		counting agent.Counting
		do       func(b *bill) event.Usage
		want     event.Usage
	}{
		{"no more than the window", "", func(b *bill) event.Usage {
			return b.reported(call, shown)
		}, one},
		{"a larger window", "", func(b *bill) event.Usage {
			b.filled(event.SessionUsageInfo{TokenLimit: 400_000, CurrentTokens: 28_000})
			return b.reported(call, shown)
		}, event.Usage{
			Calls:            1,
			InputTokens:      30_000,
			OutputTokens:     50,
			DefinitionTokens: 240,
			KeptTokens:       100_300,
			OwnTokens:        260,
		}},
		{"a helper's", "", func(b *bill) event.Usage {
			return b.reported(event.AssistantUsage{
				Scope:            event.UsageAside,
				InputTokens:      9,
				DefinitionTokens: 3,
			}, shown)
		}, event.Usage{Calls: 1, InputTokens: 9, DefinitionTokens: 3, OwnTokens: 3}},
		{"charged less than we count", "", func(b *bill) event.Usage {
			return b.reported(event.AssistantUsage{InputTokens: 90, OutputTokens: 5, DefinitionTokens: 240},
				shown)
		}, event.Usage{
			Calls:            1,
			InputTokens:      90,
			OutputTokens:     5,
			DefinitionTokens: 240,
			KeptTokens:       100_300,
			OwnTokens:        90,
		}},
		{"completed without a report", "", func(b *bill) event.Usage {
			return b.end(shown, event.Completed, false)
		}, event.Usage{}},
		{"failed", "", func(b *bill) event.Usage {
			return b.end(shown, event.Failed, false)
		}, event.Usage{}},
		{"stopped, as the last one was charged", "", func(b *bill) event.Usage {
			b.filled(event.SessionUsageInfo{CurrentTokens: 28_000})
			b.reported(call, shown)
			b.begin(shown)
			b.filled(event.SessionUsageInfo{CurrentTokens: 31_000})
			return b.end(shown, event.Aborted, false)
		}, event.Usage{
			Calls:            1,
			InputTokens:      33_000,
			EstimatedTokens:  33_000,
			DefinitionTokens: 240,
			KeptTokens:       95_000,
			OwnTokens:        260,
		}},
		{"stopped and reported later", "", func(b *bill) event.Usage {
			return b.end(shown, event.Aborted, false).Plus(b.reported(call, shown))
		}, one},
		{"the agent died", "", func(b *bill) event.Usage { return b.end(shown, event.Failed, true) },
			event.Usage{
				Calls:            1,
				InputTokens:      1_015,
				EstimatedTokens:  1_015,
				DefinitionTokens: 15,
				KeptTokens:       100_300,
				OwnTokens:        35,
			}},
		{"an agent that reports nothing", agent.CountsSteps, func(b *bill) event.Usage {
			return b.end(shown, event.Completed, false)
		},
			event.Usage{
				Calls:            1,
				InputTokens:      1_015,
				EstimatedTokens:  1_015,
				DefinitionTokens: 15,
				KeptTokens:       100_300,
				OwnTokens:        35,
			}},
		{"an agent that reports turns", agent.CountsTurns, func(b *bill) event.Usage {
			b.filled(event.SessionUsageInfo{TokenLimit: 128_000, CurrentTokens: 8_000})
			u := b.reported(event.AssistantUsage{Scope: event.UsageOfTurn, InputTokens: 500_000}, shown)
			return u.Plus(b.end(shown, event.Completed, false))
		}, event.Usage{
			Turns:            1,
			InputTokens:      500_000,
			DefinitionTokens: 15,
			KeptTokens:       100_300,
			OwnTokens:        35,
		}},
		{"a turn that shows something first", agent.CountsTurns, func(b *bill) event.Usage {
			b.begin(eventlog.Open{})
			return b.reported(event.AssistantUsage{Scope: event.UsageOfTurn, InputTokens: 500_000}, shown)
		}, event.Usage{
			Turns:            1,
			InputTokens:      500_000,
			DefinitionTokens: 15,
			KeptTokens:       100_300,
			OwnTokens:        35,
		}},
		{"no model", agent.CountsNothing, func(b *bill) event.Usage {
			return b.end(shown, event.Aborted, false)
		}, event.Usage{}},
		{"behind a display that failed", "", func(b *bill) event.Usage {
			b.completed(true)
			b.begin(shown)
			return b.reported(call, shown)
		}, event.Usage{
			Calls:            1,
			InputTokens:      30_000,
			OutputTokens:     50,
			DefinitionTokens: 240,
			KeptTokens:       98_000,
			OwnTokens:        30_050,
		}},
		{"summed up behind its begin", "", func(b *bill) event.Usage {
			b.compacted()
			return b.reported(call, shown)
		}, event.Usage{
			Calls:            1,
			InputTokens:      30_000,
			OutputTokens:     50,
			DefinitionTokens: 240,
			OwnTokens:        240,
		}},
		{"in the turn after one that failed", "", func(b *bill) event.Usage {
			b.completed(true)
			b.end(shown, event.Completed, false)
			b.begin(shown)
			return b.reported(call, shown)
		}, one},
		{"behind one that failed and another tool", "", func(b *bill) event.Usage {
			b.completed(true)
			b.completed(false)
			b.begin(shown)
			return b.reported(call, shown)
		}, one},
	} {
		b := newBill(shown)
		b.counting, b.definitions = c.counting, 15
		b.begin(shown)
		equal(t, c.name, c.do(&b), c.want)
	}
}
