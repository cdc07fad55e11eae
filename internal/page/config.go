package page

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Config is what a [Projector] needs to know.
type ProjectorConfig struct {
	CardConfig
	Turns int // how many turns a page shows, fewer when long ones are opened
	// Price is what a million tokens given to a model cost, and a million of its answers,
	// in dollars; 0 is unknown.
	Price func(model string) (in, out float64)
	// NoModel are the backends that answer without a model.
	NoModel []string
	// Elsewhere are the backends whose agents run in another program, where they are
	// prompted.
	Elsewhere []string
	// Write executes a template of package web.
	Write func(w io.Writer, name string, data any) error
}

// Answers names who answers, for the composer.
func (c *ProjectorConfig) Answers(backend, model string) string {
	switch {
	case model != "":
		return model
	case slices.Contains(c.NoModel, backend):
		return "no model"
	}
	return "the default model"
}

// render executes a fragment. Its data are this package's own, so it cannot
// fail for what a session holds; a template that does not fit is a defect that
// the tests of every kind of event find.
func (c *ProjectorConfig) render(name string, data any) string {
	var b strings.Builder
	if err := c.Write(&b, name, data); err != nil {
		panic(fmt.Errorf("render %s: %w", name, err))
	}
	return b.String()
}
