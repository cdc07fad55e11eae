package main

// roster makes the agents that flags, environment and file name.
type roster struct {
	*options
	c *config
}

func (o *options) roster(c *config) roster { return roster{o, c} }
