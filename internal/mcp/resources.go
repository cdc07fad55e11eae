package mcp

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/yosida95/uritemplate/v3"

	"webchat/internal/wording"
)

// mostResources is how many resources of a server are listed, and how many templates of them.
const mostResources = 1000

// Resource is something that a server lets its users read.
type Resource struct {
	Server    string
	URI       string // where it has arguments, a template of addresses (RFC 6570)
	Name      string
	About     string
	Arguments []Argument
}

// Taken is what a user takes over from a resource.
type Taken struct {
	Text     string
	Pictures []Picture
}

// Picture is one of a resource.
type Picture struct {
	Type string
	Data []byte
}

// resources asks for the server's resources and their templates, if it has some.
func (c *connected) resources(ctx context.Context) (all []*mcp.Resource, err error) {
	if of := c.session.InitializeResult(); of == nil || of.Capabilities == nil ||
		of.Capabilities.Resources == nil {
		return nil, nil
	}
	for r, err := range c.session.Resources(ctx, nil) { // of all pages
		if err != nil {
			return all, err
		}
		if len(all) == mostResources {
			break
		}
		all = append(all, r)
	}
	for t, err := range c.session.ResourceTemplates(ctx, nil) {
		if _, without := answered(err); without || len(all) == 2*mostResources {
			break
		}
		if err != nil {
			return all, err
		}
		if len(argumentsOf(t.URITemplate)) > 0 {
			all = append(all, &mcp.Resource{URI: t.URITemplate, Name: t.Name, Title: t.Title,
				Description: t.Description})
		}
	}
	return all, nil
}

// mayMiss finds the parts of a template that are about what may be left out.
var mayMiss = regexp.MustCompile(`\{[?&;][^}]*\}`)

// argumentsOf are the variables of a template; none of an address.
func argumentsOf(uri string) (all []Argument) {
	t, err := uritemplate.New(uri)
	if err != nil {
		return nil
	}
	free := strings.FieldsFunc(strings.Join(mayMiss.FindAllString(uri, -1), ""),
		func(r rune) bool { return strings.ContainsRune("{?&;,*}", r) })
	for _, name := range t.Varnames() {
		all = append(all, Argument{Name: name, Required: !slices.Contains(free, name)})
	}
	return all
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
				oneLine(cmp.Or(r.Description, r.Title)), argumentsOf(r.URI)})
		}
	}
	return all, err
}

// Resource returns what a server's resource is, or what a template is with the arguments.
func (s *UserServers) Resource(ctx context.Context, in In, server, uri string,
	args map[string]string) (got Taken, err error) {
	if len(args) > 0 {
		t, err := uritemplate.New(uri)
		if err != nil {
			return got, fmt.Errorf("%s is not a template of an address (RFC 6570): name a resource that "+
				"GET /api/mcp/resources lists", uri)
		}
		values := uritemplate.Values{}
		for name, value := range args {
			values.Set(name, uritemplate.String(value))
		}
		if uri, err = t.Expand(values); err != nil {
			return got, err
		}
	}
	var res *mcp.ReadResourceResult
	err = s.once(ctx, in, server, func(ctx context.Context, c *connected) (err error) {
		res, err = c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		return err
	})
	if err != nil {
		return got, err
	}
	var parts []string
	for _, part := range res.Contents {
		switch {
		case part.Blob == nil:
			parts = append(parts, part.Text)
		case strings.HasPrefix(part.MIMEType, "image/"):
			got.Pictures = append(got.Pictures, Picture{part.MIMEType, part.Blob})
		default:
			return got, fmt.Errorf("the resource %s of %s is %s, neither text nor a picture, so it cannot go "+
				"with a prompt", uri, server, wording.Cut(cmp.Or(part.MIMEType, "of an unknown type"), 100))
		}
	}
	got.Text, err = handed(server, parts)
	return got, err
}
