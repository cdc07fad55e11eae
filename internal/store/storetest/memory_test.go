package storetest

import "testing"

func TestMemory(t *testing.T) {
	Run(t, func(testing.TB) (Store, func() Store) {
		m := NewMemory()
		return m, func() Store { return m }
	}, errNotNext)
}
