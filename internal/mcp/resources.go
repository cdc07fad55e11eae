package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostResources is how many resources of a server are listed.
const mostResources = 1000

// Resource is something that a server lets its users read.
type Resource struct {
	Server string
	URI    string
	Name   string
	About  string
}

// resources asks for the server's resources, if it has some.
func (c *connected) resources(ctx context.Context) (all []*mcp.Resource, err error) {
	if of := c.session.InitializeResult(); of == nil || of.Capabilities == nil ||
		of.Capabilities.Resources == nil {
		return nil, nil
	}
	for r, err := range c.session.Resources(ctx, nil) { // of all pages
		if err != nil || len(all) == mostResources {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Resources are those of the servers that are on, as they are known. The error is ctx's.
func (s *UserServers) Resources(ctx context.Context, in In) (all []Resource, err error) {
	servers, err := s.look(ctx, s.workspace(in), false)
	for _, server := range servers {
		if server.State != Ready || s.off(in, server.Name, "") != "" {
			continue
		}
		for _, r := range server.resources {
			all = append(all, Resource{server.Name, r.URI, oneLine(cmp.Or(r.Name, r.URI)),
				oneLine(cmp.Or(r.Description, r.Title))})
		}
	}
	return all, err
}

// Resource returns the text of a server's resource.
func (s *UserServers) Resource(ctx context.Context, in In, server, uri string) (string, error) {
	var res *mcp.ReadResourceResult
	err := s.once(ctx, in, server, func(ctx context.Context, c *connected) (err error) {
		res, err = c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, part := range res.Contents {
		if part.Blob != nil {
			return "", fmt.Errorf("%s is not text", uri)
		}
		parts = append(parts, part.Text)
	}
	return handed(server, parts)
}
