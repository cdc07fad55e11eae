package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"webchat/internal/document"
	"webchat/internal/looking"
	"webchat/internal/tokens"
)

// replayed prints what looking cost in the sessions of other programs on this machine, and writes a
// page of it into the data folder. Nothing is sent.
func replayed(ctx context.Context, o *options, stdout io.Writer) error {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	folder := func(variable string) string {
		dir, _ := lookup(o.env, variable)
		return dir
	}
	bill, err := looking.Read(ctx, looking.Config{
		Home:    cmp.Or(o.home(), "."),
		Claude:  folder("CLAUDE_CONFIG_DIR"),
		Codex:   folder("CODEX_HOME"),
		Copilot: folder("COPILOT_HOME"),
		Prices:  c.pricesOf,
	})
	if err != nil {
		return err
	}
	if o.JSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		return out.Encode(bill)
	}
	dir, err := o.madeDataDir()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := bill.WritePage(&page); err != nil {
		return err
	}
	name := filepath.Join(dir, "looking.html")
	if err := document.Note(name, page.Bytes()); err != nil {
		return err
	}
	if err := bill.WriteText(stdout); err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, "As a page: "+name)
	return err
}

// pricesOf are the prices of a model by its own name, which any provider may have.
func (c *config) pricesOf(model string) tokens.Prices {
	if p := c.prices(model); p != (tokens.Prices{}) {
		return p
	}
	for _, provider := range slices.Sorted(maps.Keys(c.Providers)) {
		if p := c.prices(provider + "/" + model); p != (tokens.Prices{}) {
			return p
		}
	}
	return tokens.Prices{}
}
