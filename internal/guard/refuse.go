package guard

import (
	"encoding/json"
	"net/http"
)

// refuse answers a program. Nothing of the request is repeated in it.
func refuse(w http.ResponseWriter, status int, code, sentence string) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	b, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{sentence, code})
	if err != nil {
		panic(err) // two strings
	}
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // a client that has gone needs no answer
}
