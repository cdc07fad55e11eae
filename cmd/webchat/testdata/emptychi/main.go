// Emptychi is what the start of webchat is measured against: a chi server with
// one page. Its argument is the address to listen on.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/go-chi/chi/v5"
)

func main() {
	r := chi.NewRouter()
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	log.Fatal(http.ListenAndServe(os.Args[1], r))
}
