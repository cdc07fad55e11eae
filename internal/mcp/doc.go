// Package mcp is both sides of the Model Context Protocol (https://modelcontextprotocol.io). A
// [Server] lends a session's tools to any program that speaks it: over HTTP, or over one connection
// such as standard input and output. A [Lender] lends the display tools of a server's sessions, an
// [OwnLender] those of a command that runs no server. An [Installation] connects clients with
// webchat. [UserServers] are the servers that a user set up, whose tools it lends to sessions.
//
// # Guarantees of a Server
//
//   - A result has exactly one block of text, the tool's line for the model, and never structured
//     content, links, resources or pictures: clients hand each of those to their model. What
//     belongs to the user alone, the id and the address of the output, is in the result's _meta,
//     which no client shows to its model. A failed result has no _meta of ours, since some clients
//     quote that whole.
//   - A client that draws frames of MCP Apps is offered one that fetches what was shown by itself,
//     by a tool that models are not offered and the id that only _meta holds.
//   - A call sends a progress message at once and then every 10 s, as long as its client takes
//     them: most clients give up after 60 s of silence.
//   - A call that waits for the user says so at once in its progress, with the question and where
//     it is answered. Over a connection that is a link that signs in; results never hold one, since
//     a model that had it could answer for its user.
//   - Over a connection a client that can ask its user (elicitation) is asked to, if it is about
//     one plain command. The first answer decides, there or in the page. While neither asks, the
//     call fails, after 10 s without progress and after 30 s with it.
//   - A connection whose client closed its side ends within half a second: what it asked is
//     answered by then or stopped. What a server shows that ends with its client has no address.
//   - What was refused, or not decided in time, is a result and never an error of the protocol.
//   - Properties that a tool does not know are dropped, since clients add their own; everything
//     else of the arguments reaches the tool as it came.
//   - When a client cancels a call, the call is stopped. When only the connection of a call breaks,
//     which older versions of the protocol do not count as a cancellation, the call goes on.
//
// # Who calls
//
// A session belongs to one client: to its key, its workspace and the name it gives itself, until it
// was silent for 30 minutes; over a connection, to that connection. It begins with the client's
// first call. The name is only shown: a client that lies about it gains nothing.
//
// # The two versions of the protocol
//
// From 2026-07-28 on there are no sessions of the protocol: each request says its version in a
// header, and ends with its connection. Such requests go to a stateless handler, all others to one
// that keeps the protocol's sessions.
//
// # Concurrency
//
// All methods may be called at any time from any goroutine, also those of [UserServers].
// [Server.Close] returns when the last call has ended.
//
// # Usage
//
//	s, err := mcp.NewServer(mcp.ServerConfig{Sessions: sessions, Tools: tools, Visitor: visitor})
//	http.Handle("/mcp", s)                    // behind whatever checks credentials
//	err = s.ServeConn(ctx, conn, workspace)   // the same over one connection
//	…
//	s.Close()
package mcp
