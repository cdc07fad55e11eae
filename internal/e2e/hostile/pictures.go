package hostile

const svg = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' " +
	"width='40' height='30'>"

// Rows 26, 27 and 38: pictures that would be pages, call home, or fill the memory.
var pictures = []row{
	{"script.svg", "26", svg + "<script>JS</script><rect width='40' height='30'/></svg>"},
	{"onload.svg", "26",
		"<svg xmlns='http://www.w3.org/2000/svg' width='40' height='30' onload=\"JS\"><circle r='9' " +
			"onclick=\"JS\"/></svg>"},
	{"image.svg", "26", svg +
		"<image href='HOME' xlink:href='HOME' width='40' height='30'/><feImage href='HOME'/></svg>"},
	{"use.svg", "26", svg +
		"<use href='HOME#x'/><use xlink:href='data:image/svg+xml;base64,B64#x'/></svg>"},
	{"style.svg", "26", svg +
		"<style>@import url(HOME); rect { fill: url(HOME#p); background: url(HOME) } @font-face { " +
		"font-family: x; src: url(HOME) } text { font-family: x }</style><rect width='9' " +
		"height='9'/><text>x</text></svg>"},
	{"foreign.svg", "26", svg +
		"<foreignObject width='40' height='30'><body xmlns='http://www.w3.org/1999/xhtml' " +
		"onload=\"JS\"><iframe src='HOME'/><img src='HOME' " +
		"onerror=\"JS\"/><script>JS</script></body></foreignObject></svg>"},
	{"animate.svg", "26", svg +
		"<a><animate attributeName='href' values='javascript:JS' begin='0s' dur='1s'/><text " +
		"y='20'>x</text></a><set attributeName='onmouseover' to='JS'/><animate onbegin='JS' " +
		"attributeName='x' dur='1s'/></svg>"},
	{"sheet.svg", "26", "<?xml version='1.0'?><?xml-stylesheet href='HOME' type='text/css'?>" + svg +
		"<rect width='9' height='9'/></svg>"},
	{"entity.svg", "26",
		"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY e SYSTEM 'HOME'><!ENTITY j " +
			"'&#60;script&#62;JS&#60;/script&#62;'>]>" + svg + "<text y='20'>&e;&j;</text></svg>"},
	{"laugh.svg", "38",
		"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a 'haha'><!ENTITY b " +
			"'&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d " +
			"'&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'><!ENTITY e " +
			"'&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'>]>" + svg + "<text y='20'>&e;</text><image " +
			"href='HOME'/></svg>"},
	{"handler.svg", "26", svg +
		"<handler xmlns:ev='http://www.w3.org/2001/xml-events' ev:event='load'>JS</handler><script " +
		"href='HOME'/><script xlink:href='HOME'/></svg>"},
	{"cursor.svg", "26", svg +
		"<g style='cursor: url(HOME), auto; filter: url(HOME#f); mask: url(HOME#m); clip-path: " +
		"url(HOME#c)'><rect width='40' height='30'/></g></svg>"},
	{"polyglot.gif", "27",
		"GIF89a=1;/*\x00\x00\x00;\x00\x00\x00\x00\x00\x00*/=0;JS//<script>JS</script>;"},
	{"page.gif", "27",
		"GIF87a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xfe<script>JS</script><img " +
			"src=HOME>\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"},
	{"text.png", "27", png + "\x00\x00\x00\x30tEXtComment\x00<script>JS</script><img src=HOME>" +
		pngEnd},
	{"bomb.png", "38",
		"\x89PNG\r\n\x1a\n" +
			"\x00\x00\x00\rIHDR\x00\x00\xea\x60\x00\x00\xea\x60\x08\x06\x00\x00\x00\x80\xd2\x75\x42"},
	{"page.jpeg", "27", "\xff\xd8\xff\xfe\x00\x80<script>JS</script><img src=HOME>\xff\xd9"},
	{"riff.webp", "27", "RIFF\x20\x00\x00\x00WEBPVP8 <script>JS</script><img src=HOME>\x00\x00"},
	{"script.png", "27", "<script>JS</script><img src=HOME>"},
	{"hidden.svg", "26", "<!-- <html> --><!-- " +
		"\n--><html><script>JS</script><img src=HOME></html>"},
}

// One black pixel, without its end.
const png = "\x89PNG\r\n\x1a\n" +
	"\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde" +
	"\x00\x00\x00\x0cIDATx\x9cc\x60\x60\x60\x00\x00\x00\x04\x00\x01\xf6\x178U"

const pngEnd = "\x00\x00\x00\x00IEND\xaeB\x60\x82"
