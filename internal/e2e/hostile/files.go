package hostile

// Rows 25, 27, 30, 33, 34 and 36: files that would be pages, and files that would
// break out of what shows them.
var files = []row{
	{"page.html", "25",
		"<!doctype html><title>x</title><script>JS</script><img src=HOME onerror=\"JS\">\n"},
	{"page.htm", "25",
		"<body onload=\"JS\"><iframe src=HOME></iframe><iframe srcdoc='<script>JS</script>'></iframe>\n"},
	{"page.xhtml", "25",
		"<html xmlns='http://www.w3.org/1999/xhtml'><script>JS</script><img src='HOME'/></html>\n"},
	{"refresh.html", "25",
		"<meta http-equiv=refresh content='0;url=HOME'><base href='HOME/'><link rel=stylesheet " +
			"href='HOME'>\n"},
	{"form.html", "25",
		"<form action=HOME method=post><input autofocus " +
			"onfocus=\"JS\"><button>x</button></form><script>document.forms[0].submit()</script>\n"},
	{"embed.html", "25",
		"<object data='HOME'></object><embed src='HOME'><video poster='HOME' src='HOME'></video><audio " +
			"src='HOME' autoplay></audio>\n"},
	{"old.html", "25",
		"<table background='HOME'><body background='HOME'><input type=image src='HOME'><marquee " +
			"onstart=\"JS\">x</marquee><isindex>\n"},
	{"utf16.html", "25", "<script>JS</script><img src=HOME>\n"},
	{"utf7.html", "25", "+ADw-script+AD4-JS+ADw-/script+AD4- <img src=HOME>\n"},
	{"bom.html", "25", "\xef\xbb\xbf<script>JS</script><img src=HOME>\n"},
	{"nul.html", "25", "<scr\x00ipt>JS</scr\x00ipt><img\x00src=HOME onerror=\"JS\">\n"},
	{"page.xml", "25",
		"<?xml version='1.0'?><?xml-stylesheet type='text/xsl' href='HOME'?><!DOCTYPE x [<!ENTITY e " +
			"SYSTEM 'HOME'>]><x>&e;</x>\n"},
	{"feed.rss", "25",
		"<rss><channel><image><url>HOME</url></image><item><description>&lt;script&gt;JS&lt;/script&gt;</description></item></channel></rss>\n"},
	{"page.mhtml", "25",
		"MIME-Version: 1.0\nContent-Type: text/html\nContent-Location: HOME\n\n<script>JS</script>\n"},
	{"shortcut.url", "25", "[InternetShortcut]\nURL=HOME\nIconFile=HOME\n"},
	{"list.m3u8", "25", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\nHOME\n"},
	{"fence.md", "33",
		"```\n```html\n<img src=HOME onerror=\"JS\">\n````\n</code></pre></div><script>JS</script>\n"},
	{"close.go", "33",
		"package x // </code></pre></div></template><script>JS</script><img src=HOME>\n/* --> ]]> " +
			"</style></title></textarea><svg onload=\"JS\"> */\n"},
	{"close.js", "33",
		"const x = `</script><script>JS</script><img src=HOME>`; // ${JS}\n\u2028JS\u2029\n"},
	{"close.css", "33",
		"@import 'HOME'; body { background: url(HOME) } </style><script>JS</script>\n"},
	{"entities.txt", "33",
		"&lt;script&gt;JS&lt;/script&gt; &#60;img src=HOME&#62; &amp;lt; &Tab;&NewLine; " +
			"&#x3c;svg/onload=JS&#x3e;\n"},
	{"template.html", "33",
		"{{constructor.constructor('JS')()}} {{.}} {{template \"x\"}} ${JS} <%= JS %> #{JS}\n"},
	{"beacon.md", "28", "![x](HOME) ![y][z]\n\n[z]: HOME\n\n<img srcset='HOME 1x'>\n"},
	{"diagram.mmd", "30",
		"graph TD; A[\"<img src='HOME' onerror='JS'>\"] --> B; click A href \"javascript:JS\"; style A " +
			"fill:url(HOME)\n"},
	{"colour.css", "33",
		"a { color: red; background-image: image-set('HOME' 1x); -moz-binding: url(HOME#x); behavior: " +
			"url(HOME) }\n"},
	{"long.html", "33",
		"<!-- a line that is longer than any highlighter likes --><img src=HOME onerror=\"JS\">" + long +
			"<script>JS</script>\n"},
	{"escape.log", "35",
		"\x1b]52;c;SE9NRQ==\x07\x1b]0;JS\x07\x1b[31m<img src=HOME " +
			"onerror=\"JS\">\x1b[0m\x9b31m\x1b[6n\n"},
	{"bytes.bin", "34", "\x00\x01\x02<script>JS</script>\xff\xfe\x80<img src=HOME>\x1b[2J\n"},
	{"bidi\u202egpj.html", "36",
		"access\u202e\u2066// only for admins\u2069\u2066 <script>JS</script>\n\u200b\u200d\ufeff<img " +
			"src=HOME>\n"},
	{"quote'\"><img src=x onerror=alert(1)>.txt", "36", "the name of this file is the attack; HOME\n"},
	{"line\nbreak.txt", "36", "a name of two lines; HOME\n"},
	{"space .html ", "36", "<script>JS</script>\n"},
}

var long = repeat("lorem <b>ipsum</b> &amp; ", 1500)

func repeat(s string, n int) string {
	b := make([]byte, 0, len(s)*n)
	for range n {
		b = append(b, s...)
	}
	return string(b)
}
