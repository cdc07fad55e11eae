//go:build ignore

// Package sample exists to be highlighted.
package sample

import (
	"fmt"
	str "strings"
)

/*
A comment over
several lines, with "quotes" and `ticks`.
*/
type Kind[T any] struct {
	Name  string `json:"name,omitempty"`
	Items []T
	next  *Kind[T]
}

const (
	mask  = 0xff_00 | 0b1010
	ratio = 6.02e23
	text  = `a raw string
that spans lines // and is no comment
	and ends here`
)

func (k *Kind[T]) Walk(visit func(int, T) error) (err error) {
	defer func() { err = fmt.Errorf("walk %s: %w", k.Name, err) }()
	for i, item := range k.Items {
		switch r := 'x'; {
		case i > 3 && r != '\n':
			return visit(i, item)
		default:
			go fmt.Println(str.Repeat("é\t", i), <-make(chan int))
		}
	}
	return nil
}
