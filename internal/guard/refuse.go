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
	w.WriteHeader(status)
	_, _ = w.Write(refusal(code, sentence)) // a client that has gone needs no answer
}

// refusal is the body of an answer to a program.
func refusal(code, sentence string) []byte {
	b, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{sentence, code})
	if err != nil {
		panic(err) // two strings
	}
	return append(b, '\n')
}
