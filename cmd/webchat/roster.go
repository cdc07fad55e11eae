package main

// setup is what flags, environment and file say together.
type setup struct {
	*options
	c *config
}

func (o *options) with(c *config) setup { return setup{o, c} }

// roster makes the agents that they name.
type roster struct{ setup }

func (o *options) roster(c *config) roster { return roster{o.with(c)} }
