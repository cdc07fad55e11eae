//go:build !linux

package proc

var roles map[string]func()
