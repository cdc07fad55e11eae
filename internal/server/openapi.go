package server

import (
	"fmt"
	"net/http"
)

// describe makes the published description of the table.
func describe(routes []route, version string) ([]byte, error) {
	table := make([]describedRoute, len(routes))
	for i, r := range routes {
		table[i] = describedRoute{Method: r.method, Pattern: r.pattern, Class: r.class, Status: r.status, In: r.in, Out: r.out, Query: r.query, About: r.about}
	}
	return describeRoutes(table, refusalBody{}, version)
}

func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) error {
	text, err := s.openAPI()
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(text) // a client that has gone needs no answer
	return nil
}
