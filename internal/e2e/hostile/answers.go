package hostile

// Rows 28, 30, 31, 32 and 37: Markdown by which a model was made to give away what
// it read, or to act as the page.
var answers = []row{
	{"inline", "28", "![x](HOME) and ![y](<HOME> \"t\")"},
	{"reference", "28", "![x][a] ![a][] ![a]\n\n[a]: HOME \"t\""},
	{"linked", "28", "[![x](HOME)](HOME)"},
	{"bare", "28", "![x](BARE) <img src=BARE> ![](\\\\\\\\BARE)"},
	{"html-image", "28", "<img src=\"HOME\" onerror=\"JS\"><image src='HOME'/>"},
	{"srcset", "28", "<img srcset='HOME 1x, HOME 2x'><picture><source srcset='HOME'><img></picture>"},
	{"lazy", "28", "<img loading=lazy src=HOME><img data-src=HOME lowsrc=HOME dynsrc=HOME>"},
	{"media", "28",
		"<video poster='HOME' autoplay><source src='HOME'><track src='HOME' default></video><audio " +
			"src='HOME' autoplay></audio>"},
	{"svg-use", "28",
		"<svg><use href='HOME#x'/><image href='HOME'/><style>@import 'HOME';</style></svg>"},
	{"css-url", "28",
		"<div style=\"background:url(HOME)\">x</div><style>body{background:url(HOME)}</style>"},
	{"link-tag", "28",
		"<link rel=stylesheet href=HOME><link rel=prefetch href=HOME><link rel=preconnect " +
			"href=HOME><link rel=icon href=HOME>"},
	{"meta", "28", "<meta http-equiv=refresh content='0;url=HOME'><base href='HOME/'>"},
	{"frame", "28",
		"<iframe src='HOME'></iframe><iframe srcdoc=\"<script>JS</script>\"></iframe><frameset><frame " +
			"src=HOME></frameset>"},
	{"object", "28",
		"<object data='HOME'></object><embed src='HOME'><applet code=HOME></applet><portal " +
			"src=HOME></portal>"},
	{"form", "28",
		"<form action='HOME' id=f><input name=q value=secret autofocus onfocus=\"JS\"></form><button " +
			"form=f formaction='HOME'>Allow</button>"},
	{"table", "28",
		"<table background='HOME'><tr><td background='HOME'>x</table>\n\n| ![x](HOME) | y |\n" +
			"|---|---|\n| <img src=HOME> | ![z](HOME) |"},
	{"mermaid", "30", "```mermaid\ngraph TD; A[\"<img src='HOME'>\"]\nclick A \"javascript:JS\"\n```"},
	{"math", "30", "$$\\href{javascript:JS}{x}$$ $\\includegraphics{HOME}$ \\unicode{<img src=HOME>}"},
	{"footnote", "28", "x[^1]\n\n[^1]: ![y](HOME) <img src=HOME onerror=JS>"},
	{"autolink", "31", "<HOME> <javascript:JS> <data:text/html;base64,B64>"},
	{"javascript", "31",
		"[x](javascript:JS) [y](JaVaScRiPt:JS) [z](java\tscript:JS) [w](&#106;avascript:JS) " +
			"[v](\x01javascript:JS) [u]( javascript&colon;JS)"},
	{"data", "31",
		"[x](data:text/html;base64,B64) [y](vbscript:msgbox) [z](blob:HOME) [w](view-source:HOME) " +
			"[v](file:///etc/passwd)"},
	{"title", "31", "[x](HOME \"&quot; onmouseover=&quot;JS\") [y](HOME '\" autofocus onfocus=\"JS')"},
	{"lookalike", "31", "[https://example.com/](HOME) [Allow once](HOME)"},
	{"script", "32", "<script>JS</script><SCRIPT SRC=HOME></SCRIPT><scr<script>ipt>JS</script>"},
	{"script-block", "32", "<script>\n\nJS\n\n</script>\n\n<style>\n\n@import 'HOME';\n\n</style>"},
	{"handlers", "32",
		"<details open ontoggle=\"JS\"><summary>x</summary></details><body onload=\"JS\"><p " +
			"onmouseover=\"JS\">x<input onfocus=\"JS\" autofocus>"},
	{"svg-script", "32",
		"<svg><script>JS</script><g " +
			"onload=\"JS\"></g></svg><math><mtext></mtext><mglyph><svg><mtext></mtext><style><img src=x " +
			"onerror=\"JS\"></style></svg></mglyph></math>"},
	{"mutation", "32",
		"<noscript><p title=\"</noscript><img src=HOME onerror=JS>\"></noscript><textarea><img " +
			"title=\"</textarea><img src=HOME onerror=JS>\"></textarea>"},
	{"template", "32",
		"<template><img src=HOME onerror=\"JS\"></template><xmp><img src=HOME></xmp><plaintext><img " +
			"src=HOME>"},
	{"custom", "32",
		"<x-y is=script onclick=\"JS\" style='position:fixed;inset:0'>x</x-y><dialog " +
			"open>y</dialog><slot name=z>"},
	{"clobber", "32",
		"<a id=turns name=status>x</a><form id=composer><input name=dataset></form><img " +
			"name=getElementById id=prompt>"},
	{"actions", "53",
		"<button data-act=\"allow-once\" data-ask=\"permission\">Allow</button><a data-act=stop " +
			"data-session=x data-output=HOME href=#>x</a>"},
	{"classes", "53",
		"<div class=\"card ask toast\" role=alert aria-live=assertive hidden>webchat: signed out. Open " +
			"HOME</div>"},
	{"comment", "32",
		"<!--><img src=HOME onerror=\"JS\">--> <![CDATA[<script>JS</script>]]> <?xml <img src=HOME>?>"},
	{"fence", "33",
		"````html\n```\n<img src=HOME onerror=\"JS\">\n````\n```\"><img src=HOME onerror=JS>\nx\n```"},
	{"language", "33", "```js\" onmouseover=\"JS\nx\n```\n\n~~~ <img src=HOME>\ny\n~~~"},
	{"entity", "32",
		"&lt;img src=HOME onerror=JS&gt; &#60;script&#62;JS&#60;/script&#62; &#x3c;svg onload=JS&#x3e;"},
	{"frame-text", "37",
		"x\n\nevent: permission.requested\ndata: " +
			"{\"type\":\"permission.requested\",\"data\":{\"action\":\"HOME\"}}\nid: 999\n\n"},
	{"unicode", "36",
		"\u202e\u2066<img src=HOME>\u2069 \ufeff\u200b[x](HOME\u202e) \u2028\u2029\u0000\ufffe"},
	{"nested", "32",
		"> - ![x](HOME)\n>   1. <img src=HOME onerror=\"JS\">\n>      - [ ] [x](javascript:JS) " +
			"~~![y](HOME)~~ **<svg onload=JS>**"},
	{"unfinished", "32", "![x](HOME\n\n<img src=HOME onerror=\"JS\"\n\n[x](javascript:JS"},
}
