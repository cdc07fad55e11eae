package formula

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

//go:embed VERSION
var version string

// The library is the published file that its note names.
func TestLibraryIsPinned(t *testing.T) {
	if sum := fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(library()))); !strings.HasSuffix(version,
		sum) {
		t.Errorf("the library has %s, and its note says\n%s", sum, version)
	}
}

func TestMathML(t *testing.T) {
	for tex, want := range map[string]string{
		`\frac{a}{b}`:                      `<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>`,
		`\sqrt[3]{x}`:                      `<math><mroot><mrow><mi>x</mi><mspace width="0pt" height="0.5em"></mspace></mrow><mn>3</mn></mroot></math>`,
		`\sin x`:                           `<math><mrow><mrow><mi>sin</mi><mrow></mrow><mspace width="0.1667em"></mspace></mrow><mi>x</mi></mrow></math>`,
		`\boxed{42}`:                       `<math><mrow scriptlevel="0" displaystyle="true" class="tml-fbox"><mn>42</mn></mrow></math>`,
		`\begin{matrix}a&b\end{matrix}`:    `<math><mtable><mtr><mtd class="flush-left"><mi>a</mi></mtd><mtd class="flush-right"><mi>b</mi></mtd></mtr></mtable></math>`,
		`\begin{array}{c|c}a&b\end{array}`: `<math><mtable><mtr><mtd class="flush-left rule-right"><mi>a</mi></mtd><mtd class="flush-right"><mi>b</mi></mtd></mtr></mtable></math>`,
		`\color{red}x`:                     `<math><mrow><mi>x</mi></mrow></math>`,
	} {
		for range 2 {
			if got, err := MathML(Source{TeX: tex}, &Spent{}); got != want || err != nil {
				t.Errorf("%s: %s, %v", tex, got, err)
			}
		}
	}
	got, err := MathML(Source{`\begin{align} a &= b \\ c &= d \end{align}`, true}, &Spent{})
	if err != nil || !strings.HasPrefix(got, `<math display="block"><mtable displaystyle="true"`) ||
		strings.Contains(got, "tml-eqn") {
		t.Errorf("align: %s, %v", got, err)
	}
}

// The formulas of one text take a bounded time together. What is kept costs nothing.
func TestThreat104FormulasOfATextAreBounded(t *testing.T) {
	var spent Spent
	if _, err := MathML(Source{TeX: "a+b+c"}, &spent); err != nil || spent.Load() == 0 {
		t.Fatalf("%v after %d", err, spent.Load())
	}
	spent.Store(int64(maxSpent) + 1)
	if _, err := MathML(Source{TeX: "a+b+d"}, &spent); err != ErrSpent {
		t.Errorf("one too many: %v", err)
	}
	if _, err := MathML(Source{TeX: "a+b+c"}, &spent); err != nil {
		t.Errorf("one that is kept: %v", err)
	}
	if _, err := MathML(Source{TeX: "a+b+d"}, &Spent{}); err != nil {
		t.Errorf("in another text: %v", err)
	}
}

// hostile are formulas that are none, or that ask for what is not given.
func hostile() []string {
	n := func(s string, n int) string { return strings.Repeat(s, n) }
	return []string{
		"", " ", `\`, `\foo`, `\frac{1`, `x^`, `x__y`, `}{`, `&`, `\begin{x}`, `\end{matrix}`, `\left(`,
		`\right)`, `#1`, `%`, `\verb|x|`, "\x00", "\xff",
		`\href{javascript:alert(1)}{x}`, `\url{http://sink.test}`,
		`\includegraphics{http://sink.test/a.png}`, `\class{a}{x}`, `\id{a}{x}`, `\style{color:red}{x}`,
		`\data{a=b}{x}`, `\htmlClass{a}{x}`, `\ref{a}`, `\label{a}`, `\text{\href{a}{b}}`,
		`\toggle{a}{b}\endtoggle`, `\texttip{a}{b}`,
		`\def\a{\a}\a`, `\gdef\a{b}`, `\newcommand\a{\a\a}\a`, `\renewcommand{\sum}{x}`, `\let\a=\b`,
		`\futurelet\a`, `\global\long\def\a{}`,
		n("{", MaxSource), n("{", 400) + "x" + n("}", 400), n("x^{", 200) + "x" + n("}", 200),
		n(`\frac{`, 90) + "x" + n("}{y}", 90), n("'", 900),
		`\begin{matrix}` + n("a&", 400) + `\end{matrix}`, `\begin{matrix}` + n(`\\`, 400) +
			`\end{matrix}`, n(`\begin{matrix}`, 30) + "x" + n(`\end{matrix}`, 30),
		n(`\overline{`, 90), n(`\bigl(`, 150), n(`\implies`, 120), n(`\mathchoice{`, 80),
		n("x", MaxSource+1), `\rule{1000000em}{10000000em}`, `\kern{99999em}x`,
		`\text{<script>alert(1)</script>}`, `\text{</math><img src=x onerror=alert(1)>}`, `<img src=x>`,
		`\char"202E x`, `\char"3C script`, `\unicode{x202e}`, `\tag{<b>}`, `\color{"><img>}x`,
	}
}

var inFormula = regexp.MustCompile(`^(?:</?m[a-z]+(?: [a-z]+="[^"<>]*")*>|</?none>|[^<>])*$`)

// Whatever comes in, what goes out is a bounded text of MathML elements, without addresses, and the
// next formula is read.
func FuzzMathML(f *testing.F) {
	for _, tex := range hostile() {
		f.Add(tex)
	}
	f.Fuzz(func(t *testing.T, tex string) {
		got, err := MathML(Source{tex, len(tex)%2 == 0}, &Spent{})
		if (err == nil) != (got != "") || len(got) > maxMathML {
			t.Fatalf("%q: %d bytes, %v", tex, len(got), err)
		}
		if !utf8.ValidString(got) || !inFormula.MatchString(got) {
			t.Fatalf("%q: %s", tex, got)
		}
		if regexp.MustCompile(` (?:href|src|style|on[a-z]+|id|title)=`).MatchString(got) {
			t.Fatalf("%q: %s", tex, got)
		}
		if next, err := MathML(Source{TeX: "y"}, &Spent{}); next != "<math><mi>y</mi></math>" {
			t.Fatalf("after %q: %s, %v", tex, next, err)
		}
	})
}
