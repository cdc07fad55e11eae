// Package consent decides whether an agent of one session may act, and asks the user
// where nothing else decides: hooks first, then rules, the mode and earlier grants. It
// also puts the agent's own questions to the user.
//
// Nothing acts before its permission.completed is durable. The first answer wins; a
// time limit, an abort and a restart mean deny.
package consent
