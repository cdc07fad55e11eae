package store

import "time"

// Unfenced is the configuration with what the build tag nofence does.
func (c PostgresConfig) Unfenced() PostgresConfig {
	c.unfenced = true
	return c
}

// Thaw is as if the replica had been frozen until the time when it gives up what it has.
func (db *Postgres) Thaw() {
	db.life.mu.Lock()
	defer db.life.mu.Unlock()
	db.life.until = time.Now()
}
