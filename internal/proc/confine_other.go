//go:build !linux

package proc

import (
	"errors"
	"net"
	"os"
	"runtime"
)

var errNotLinux = errors.New("nothing can be confined on " + runtime.GOOS + ", only on Linux")

// Confines reports whether this system confines trees.
func Confines() error { return errNotLinux }

// HoldsSignals reports whether a confined tree cannot end other processes of its user.
func HoldsSignals() bool { return false }

// Hold opens what is at a path for [Child.Open].
func Hold(string) (*os.File, error) { return nil, errNotLinux }

// Places are what a confined tree that runs has.
func (c *Child) Places() ([]Place, error) { return nil, errNotLinux }

func (t *tree) open(*os.File, Access) (func() error, error) { return nil, errNotLinux }

func (t *tree) shut(int) error { return errNotLinux }

func (t *tree) receive(int) ([]net.Listener, error) { return nil, errNotLinux }

func (t *tree) heard() ([]net.Listener, error) { return nil, errNotLinux }
