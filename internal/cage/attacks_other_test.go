//go:build !linux

package cage

func beAnother() {}
