// Package cluster tries several webchats as a team runs them: three programs behind the nginx.conf
// that ships, on one PostgreSQL, with a line to it that fails. Programs are killed and frozen, the
// database crashes, and what every client saw has to be what the log holds. It has tests only. They
// print the seed of what they did at random; WEBCHAT_SOAK holds the seed of the long runs.
package cluster
