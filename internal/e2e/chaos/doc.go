// Package chaos tries that nothing is lost: it runs the whole program as a
// process, kills it at random instants, and cuts its streams at random bytes. It
// has tests only. They print the seed of what they did at random; WEBCHAT_SOAK
// holds the seed of the long runs.
package chaos
