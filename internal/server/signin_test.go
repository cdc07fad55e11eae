package server_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSignInReadsByCookieAndWritesBySecret(t *testing.T) {
	h := newHouse(t)
	link := h.guard.Link(h.url)
	base, token, _ := strings.Cut(link, "#t=")
	if base != h.url+"/auth" {
		t.Errorf("link %s", link)
	}
	for range 20 { // looking at the page spends nothing
		h.do("GET", "/auth", "", "Authorization:")
	}
	in := `{"token":"` + token + `"}`
	res, body := h.do("POST", "/api/sign-in", in, "Authorization:", "Sec-Fetch-Site: same-origin",
		"Origin: "+h.url)
	var reply struct{ Secret string }
	if err := json.Unmarshal([]byte(body), &reply); err != nil || res.StatusCode != 200 ||
		len(res.Cookies()) != 1 {
		t.Fatalf("%d %s %v", res.StatusCode, body, err)
	}
	if res, _ := h.do("POST", "/api/sign-in", in, "Authorization:"); res.StatusCode != 401 {
		t.Errorf("a spent link: %d", res.StatusCode)
	}
	cookie := "Cookie: " + res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
	secret := "Authorization: Bearer " + reply.Secret
	check := func(what string, status int, method, path, body string, header ...string) {
		t.Helper()
		if res, text := h.do(method, path, body, header...); res.StatusCode != status {
			t.Errorf("%s: %d %s, want %d", what, res.StatusCode, text, status)
		} else if strings.Contains(text, reply.Secret) {
			t.Errorf("%s tells the secret again", what)
		}
	}
	check("the cookie reads", 200, "GET", "/api/sessions", "", "Authorization:", cookie)
	check("the cookie sees the page", 200, "GET", "/", "", "Authorization:", cookie)
	check("the cookie does not act", 401, "POST", "/api/sessions", "{}", "Authorization:", cookie)
	check("the secret acts", 201, "POST", "/api/sessions", "{}", secret)
	check("sign-out", 200, "POST", "/api/sign-out", "", secret, cookie)
	check("the cookie after sign-out", 401, "GET", "/api/sessions", "", "Authorization:", cookie)
	check("the secret after sign-out", 401, "POST", "/api/sessions", "{}", secret)
	for _, canary := range []string{token, reply.Secret, res.Cookies()[0].Value, h.guard.Token()} {
		if strings.Contains(h.log.String(), canary) {
			t.Error("a secret is in the log")
		}
	}
}
