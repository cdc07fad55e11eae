package code

import "github.com/alecthomas/chroma/v2"

// codeClasses are all the class names code may carry. The style sheet colours them only under .code
// and .chroma.
var codeClasses = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range []string{
		"k", "kc", "kd", "kn", "kp", "kr", "kt", "nt", "nc", "nn", "ne", "nf", "fm", "nd", "nb", "bp",
		"s", "s1", "s2", "sa", "sb", "sc", "sd", "dl", "sh", "sx", "ss", "se", "si", "sr",
		"m", "mi", "mf", "mh", "mb", "mo", "il", "no", "c", "c1", "cm", "ch", "cs", "cp", "cpf",
		"na", "nv", "vc", "vg", "vi", "o", "ow", "p", "gd", "gi", "gh", "gu", "ge", "gs", "gr", "gt",
		"err",
	} {
		m[c] = true
	}
	return m
}()

// nearest gives chroma's other classes the colour of their nearest kin. Names and white space have
// the colour of the text around them and get no element at all.
var nearest = map[string]string{"ni": "se", "py": "na", "vm": "nv", "l": "m", "ld": "m", "or": "ow",
	"gl": "ge"}

func tokenClass(t chroma.TokenType) string {
	for {
		name, ok := chroma.StandardTypes[t]
		if ok {
			if codeClasses[name] {
				return name
			}
			return nearest[name]
		}
		if t == t.Parent() || t <= 0 {
			return ""
		}
		t = t.Parent()
	}
}
