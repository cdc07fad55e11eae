package session

import (
	"log/slog"
	"sync"
	"time"

	"webchat/internal/document"
	"webchat/internal/event"
)

// Day is what all sessions may take on one day, from midnight to midnight of this machine, and what
// they took today, which is kept over a restart.
//
// It may be used from any goroutine, by any number of sessions.
type Day struct {
	limit event.Budget
	kept  *document.Value[spent]
	now   func() time.Time
	log   *slog.Logger
	saves sync.WaitGroup

	mu     sync.Mutex // guards what follows
	saved  spent      // what kept says
	more   spent      // what it does not say yet
	saving bool
}

// spent is what was taken on a day.
type spent struct {
	Day string `json:"day"` // as 2006-01-02
	event.Budget
}

// on is what of s was taken on a day.
func (s spent) on(day string) spent {
	if s.Day != day {
		return spent{Day: day}
	}
	return s
}

func (s spent) plus(b event.Budget) spent {
	s.Tokens, s.Money = s.Tokens+b.Tokens, s.Money+b.Money
	return s
}

// NewDay returns the budget of each day; what was taken is kept in a store, or nowhere if that is
// nil.
func NewDay(limit event.Budget, store document.Store, now func() time.Time, log *slog.Logger) *Day {
	d := &Day{limit: limit, kept: document.Open[spent](store, "spent.json", log), now: now, log: log}
	d.saved = d.kept.Get()
	return d
}

func (d *Day) today() string { return d.now().Local().Format(time.DateOnly) }

// state is the limit, and what was taken today, in what the limit is in.
func (d *Day) state() (limit, used event.Budget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	today := d.today()
	used = d.saved.on(today).plus(d.more.on(today).Budget).Budget
	if d.limit.Money > 0 {
		used.Tokens = 0
	} else {
		used.Money = 0
	}
	return d.limit, used
}

// add counts what was taken. It is saved soon.
func (d *Day) add(b event.Budget) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.more = d.more.on(d.today()).plus(b)
	if !d.saving {
		d.saving = true
		d.saves.Go(d.save)
	}
}

// save keeps what was taken until there is nothing more.
func (d *Day) save() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.saving = true; d.more.Budget != (event.Budget{}); {
		more := d.more
		d.mu.Unlock()
		var saved spent
		err := d.kept.Change(func(s spent) spent {
			saved = s.on(more.Day).plus(more.Budget)
			return saved
		})
		d.mu.Lock()
		if err != nil { // it is in memory, and saved with the next
			d.log.Warn("what was spent today was not saved", "error", err)
			break
		}
		d.saved = saved
		d.more = d.more.on(more.Day).plus(event.Budget{Tokens: -more.Tokens, Money: -more.Money})
	}
	d.saving = false
}

// Close returns once all is saved. A nil Day has nothing to save.
func (d *Day) Close() error {
	if d != nil {
		d.saves.Wait()
	}
	return nil
}
