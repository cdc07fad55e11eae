package markdown

import (
	"strings"
	"testing"

	"webchat/internal/render/rendertest"
)

// Mathematics is MathML, in answers and documents; prices and variables of a shell stay text; and
// what cannot be read is its source, with a sentence.
func TestMarkdownMath(t *testing.T) {
	const unread = `</code> <span class="unread">(this formula cannot be read)</span>`
	const said = `<p class="unread">This formula cannot be read: its source is shown.</p>`
	x, block := "<math><mi>x</mi></math>", `<div class="math" tabindex="0"><math display="block"><mi>x</mi></math></div>`
	for in, want := range map[string]string{
		"a $x$ b":                             "<p>a " + x + " b</p>\n",
		"($x$), $`x`$. *$x$*":                 "<p>(" + x + "), " + x + ". <em>" + x + "</em></p>\n",
		"$$x$$":                               "<p>" + strings.ReplaceAll(block[len(`<div class="math" tabindex="0">`):], "</div>", "") + "</p>\n",
		"$$\nx\n$$\n":                         block + "\n",
		"a\n$$\nx\n$$\nb":                     "<p>a</p>\n" + block + "\n<p>b</p>\n",
		"```math\nx\n```\n":                   block + "\n",
		"- a\n  ```math\n  x\n  ```\n":        "<ul>\n<li>a\n" + block + "\n</li>\n</ul>\n",
		"| $x$ | b |\n|---|---|\n| 1 | $x$ |": `<div class="table" tabindex="0"><table><thead><tr><th>` + x + `</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>` + x + "</td></tr>\n</tbody></table></div>\n",
		"### $x$":                             "<h6>" + x + "</h6>\n",

		"It costs $5 and $6.":                 "<p>It costs $5 and $6.</p>\n",
		"$HOME and $PATH, $HOME/$USER, a$x$b": "<p>$HOME and $PATH, $HOME/$USER, a$x$b</p>\n",
		"${a}-${b} $(x).y($z)":                "<p>${a}-${b} $(x).y($z)</p>\n",
		"\\$x$ `$x$` $ x$ $x $ $$ $$$":        "<p>$x$ <code>$x$</code> $ x$ $x $ $$ $$$</p>\n",
		"$5 for `a$`":                         "<p>$5 for <code>a$</code></p>\n",
		"$x\ny$":                              "<p>$x\ny$</p>\n",

		`$\foo$`:                        "<p><code>$\\foo$" + unread + "</p>\n",
		`$\href{javascript:alert(1)}x$`: "<p><code>$\\href{javascript:alert(1)}x$" + unread + "</p>\n",
		"$$\n\\def\\a{\\a}\\a\n$$":      said + "\n" + `<pre class="chroma" tabindex="0"><code>\def\a{\a}\a` + "\n</code></pre>\n",
		"$a\u202eb$":                    "<p><code>$a<bdi class=\"err\" title=\"U+202E\">\u202e</bdi>b$" + unread + "</p>\n",
		`$\text{<img src=x>}$`:          "<p><math><mtext>&lt;img\u00a0src=x&gt;</mtext></math></p>\n",
	} {
		got := string(HTML(in))
		if got != want {
			t.Errorf("%q:\n got %q\nwant %q", in, got, want)
		}
		rendertest.Safe(t, got)
	}
	h, _ := NewDocument("# The $x$ of it\n\n$$\nx\n$$\n\n> [!NOTE]\n> $x$\n").HTML(1, 9)
	if got := string(h); strings.Count(got, "<math") != 3 || !strings.Contains(got, `id="user-content-the-x-of-it"`) {
		t.Errorf("a document: %s", got)
	}
	many := string(HTML(strings.Repeat(strings.Repeat("$x$ ", 100)+"\n\n", 400)))
	if n := strings.Count(many, "<math>"); n < 1000 || n > 30_000 || !strings.HasSuffix(many, "$x$ $x$</p>\n") {
		t.Errorf("%d of 40,000 formulas are shown", n)
	}
	d := NewDocument("<details>\n\n$new_1$\n\n```math\nnew_2\n```\n\n- $x$\n\n</details>\n\n|$new_3$|b|\n|-|-|\n\n[^1]\n\n[^1]: $new_4$\n")
	d.math.spent.Store(1 << 60) // nanoseconds
	h, _ = d.HTML(1, 9)
	if got := string(h); strings.Count(got, "takes too long") != 4 || strings.Count(got, "<math") != 1 {
		t.Errorf("a document whose formulas take too long: %s", got)
	}
}
