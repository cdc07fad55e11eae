package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyed sends a key with each request.
type keyed string

// RoundTrip implements [http.RoundTripper].
func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// mcpClientOfTests calls a tool as an MCP client and prints the result: stdio or
// an address, the version of the protocol, the tool and its arguments. The key for an
// address is $KEY. Without a tool it lists them. With $ANSWER its user is asked by it, and
// chooses that; with "none", they do not answer, and the file "asked" has the question.
func mcpClientOfTests() {
	if err := mcpCall(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func mcpCall(where, version string, call []string) error {
	ctx := context.Background()
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint:   where,
		HTTPClient: &http.Client{Transport: keyed(os.Getenv("KEY"))},
		MaxRetries: -1,
	}
	if where == "stdio" {
		program := exec.Command("webchat", "mcp")
		program.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: program}
	}
	var elicit func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error)
	if answer := os.Getenv("ANSWER"); answer != "" {
		elicit = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Printf("asked: %q\n", r.Params.Message)
			if answer == "none" {
				if err := os.WriteFile("asked", []byte(r.Params.Message), 0o600); err != nil {
					return nil, err
				}
				<-ctx.Done()
				fmt.Println("withdrawn")
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "term", Title: "Terminal", Version: "1"},
		&mcp.ClientOptions{ElicitationHandler: elicit,
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				fmt.Println("progress:", r.Params.Message)
			}})
	s, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return err
	}
	defer s.Close()
	if len(call) == 0 {
		list, err := s.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		for _, t := range list.Tools {
			fmt.Println("tool:", t.Name)
		}
		return nil
	}
	p := &mcp.CallToolParams{Name: call[0], Arguments: json.RawMessage(append(call, "{}")[1])}
	p.SetProgressToken("p")
	res, err := s.CallTool(ctx, p)
	if err != nil {
		return err
	}
	b, err := json.Marshal(res)
	fmt.Println("result:", string(b))
	return err
}

// keyProxyOfTests adds $KEY to each request and hands it to the server at $URL: the
// conformance suite cannot give a key. It writes its own address to a file, and keeps
// the names of other hosts that a request is for, or comes from.
func keyProxyOfTests() {
	target, err := url.Parse(os.Getenv("URL"))
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	own := l.Addr().String()
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
		if r.In.Host != own {
			r.Out.Host = r.In.Host
		}
		if r.In.Header.Get("Origin") == "http://"+own {
			r.Out.Header.Set("Origin", target.String())
		}
	}}
	if err := os.WriteFile(os.Args[1], []byte("http://"+own), 0o600); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(http.Serve(l, proxy))
}
