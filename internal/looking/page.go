package looking

import (
	"bytes"
	"html/template"
	"io"

	"webchat/web"
)

// WritePage writes the bill as a page that loads nothing and runs nothing.
func (b *Bill) WritePage(w io.Writer) error {
	t, err := web.Parse(template.New(""), "templates/looking/*.html")
	if err != nil {
		return err
	}
	var style []byte
	for _, name := range []string{"tokens", "base", "looking"} {
		css, err := web.FS.ReadFile("static/css/" + name + ".css")
		if err != nil {
			return err
		}
		style = append(style, css...)
	}
	var page bytes.Buffer
	if err := t.ExecuteTemplate(&page, "looking", struct {
		*Bill
		Style template.CSS
		Rest  float64
	}{b, template.CSS(style), 1000 - 10*min(100, b.Share)}); err != nil {
		return err
	}
	_, err = page.WriteTo(w)
	return err
}

// Paying is the rest of the bill, in words.
func (b *Bill) Paying() string { return b.amount(b.Paid - b.Looking) }

// Seen is what of it was looking, in words.
func (b *Bill) Seen() string { return b.amount(b.Looking) }
