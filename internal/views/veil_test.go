package views

import (
	"strings"
	"testing"

	"webchat/internal/outputs"
)

// No view of a veiled output holds what looks like a secret; all of them do of the output itself.
func TestVeil(t *testing.T) {
	h := New(testStore(t), nil)
	const secret = "hunter2hunter2"
	was := file(t, h, "a.env", "A=1\nB_TOKEN=before22before22\n")
	for name, c := range map[string]struct {
		o     *outputs.Output
		views string
	}{
		"go":       {file(t, h, "a.go", "package a\n\nconst apiToken = \""+secret+"\"\n\n// end\n"), "source"},
		"env":      {file(t, h, "b.env", "A=1\nB_TOKEN="+secret+"\n"), "source diff"},
		"json":     {file(t, h, "a.json", `[{"id": 1, "api_token": "`+secret+`"}, {"id": 2, "api_token": "x"}]`), "source table tree"},
		"yaml":     {file(t, h, "a.yaml", "a: 1\npassword: "+secret+"\n"), "source tree"},
		"markdown": {file(t, h, "a.md", "# Keys\n\n    API_TOKEN="+secret+"\n\nBearer: `token: "+secret+"`\n"), "source preview"},
		"terminal": {put(t, h, outputs.Meta{Type: outputs.Terminal, Command: "env"}, "A=1\n\x1b[31mB_TOKEN\x1b[0m=hunter2\x1b[1mhunter2\x1b[0m\nend\n"), "terminal"},
		"binary":   {put(t, h, outputs.Meta{Type: outputs.File, Path: "a.bin", Binary: true}, "\x00\x01\x02\nB_TOKEN="+secret+"\n\x00"), "hex"},
		"failure":  {put(t, h, outputs.Meta{Type: outputs.Terminal, Command: "x"}, "fatal error: open https://me:"+secret+"@h/x failed\n"), "failure"},
	} {
		for view := range strings.FieldsSeq(c.views) {
			a := outputs.Ask{View: view, Rows: 500}
			if view == Diff {
				a.With = was.Veiled()
			}
			got := ask(t, h, c.o.Veiled(), a)
			checkHarmless(t, name+" as "+view, got.HTML)
			if text := textOf(got.HTML); strings.Contains(text, "hunter2") || strings.Contains(text, "68 75 6e") || strings.Contains(string(got.HTML), "hunter2") || !strings.Contains(text, "••") {
				t.Errorf("%s as %s: %s", name, view, got.HTML)
			} else if strings.ContainsAny(text, "\u2981\u02ff") {
				t.Errorf("%s as %s has what covers: %s", name, view, text)
			}
			if view == Diff && got.Header["Changes"] != "1" {
				t.Errorf("what is covered is not compared: %v", got.Header)
			}
			if text := textOf(ask(t, h, c.o, a).HTML); strings.Contains(text, "•") || view != Hex && !strings.Contains(text, "hunter2") {
				t.Errorf("%s as %s without a veil: %s", name, view, text)
			}
		}
	}
}
