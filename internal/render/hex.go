package render

import (
	"fmt"
	"html/template"
	"strings"
)

// HexWidth is how many bytes a row of [Hex] shows.
const HexWidth = 16

// Hex shows bytes of a file, start being the offset of the first: one row for each HexWidth bytes,
// the offset in the gutter where a line number would stand (without a link), then the bytes in
// hexadecimal and as text. Bytes outside printable ASCII are a faint dot.
//
//	<div class="line"><span class="ln">00000010</span><code class="cl">7f 45 …  <span class="c">…</span></code></div>
//
// Bytes that are covered, if covered is not nil, are dots.
func Hex(head []byte, start int64, covered []bool) template.HTML {
	var b strings.Builder
	for off := 0; off < len(head); off += HexWidth {
		row := head[off:min(off+HexWidth, len(head))]
		fmt.Fprintf(&b, `<div class="line"><span class="ln">%08x</span><code class="cl">`, start+
			int64(off))
		for i := range HexWidth {
			switch {
			case i >= len(row):
				b.WriteString("   ")
			case covered != nil && covered[off+i]:
				b.WriteString("•• ")
			case row[i] == 0:
				b.WriteString(`<span class="c">00</span> `)
			default:
				b.WriteString(hexByte(row[i]) + " ")
			}
			if i == HexWidth/2-1 {
				b.WriteByte(' ')
			}
		}
		b.WriteByte(' ')
		if covered == nil {
			hexText(&b, row)
		} else {
			for i := 0; i < len(row); {
				j := i
				for j < len(row) && covered[off+j] == covered[off+i] {
					j++
				}
				if covered[off+i] {
					b.WriteString(strings.Repeat(coverDot3, j-i))
				} else {
					hexText(&b, row[i:j])
				}
				i = j
			}
		}
		CloseRow(&b)
	}
	return template.HTML(b.String())
}

func hexText(b *strings.Builder, row []byte) {
	for i := 0; i < len(row); {
		j := i
		for j < len(row) && printable(row[j]) == printable(row[i]) {
			j++
		}
		if printable(row[i]) {
			Escape(b, string(row[i:j]))
		} else {
			b.WriteString(`<span class="c">` + strings.Repeat(".", j-i) + `</span>`)
		}
		i = j
	}
}

func printable(c byte) bool { return ' ' <= c && c <= '~' }

func hexByte(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}
