package hostile

// Row 35: what a terminal would obey.
var terminals = []row{
	{"osc52.txt", "35", "\x1b]52;c;aGVsbG8=\x07\x1b]52;p;!\x1b\\HOME copied\n"},
	{"title.txt", "35", "\x1b]0;JS\x07\x1b]2;<img src=HOME>\x1b\\\x1b[21ttitle\n"},
	{"link.txt", "35",
		"\x1b]8;;javascript:JS\x1b\\click\x1b]8;;\x1b\\ \x1b]8;;HOME\x07here\x1b]8;;\x07\n"},
	{"image.txt", "35", "\x1b]1337;File=inline=1;width=9:B64\x07\x1b]1337;url=HOME\x07image\n"},
	{"sixel.txt", "35", "\x1bPq#0;2;0;0;0#0~~@@vv@@~~$\x1b\\\x1b_GHOME\x1b\\\x1b^JS\x1b\\sixel\n"},
	{"query.txt", "35", "\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b[?6n\x1bZ\x05\x1bP+q544e\x1b\\query HOME\n"},
	{"html.txt", "33",
		"<script>JS</script><img src=HOME onerror=\"JS\"></code></pre>\x1b[31m<b>\x1b[0m</div>\n"},
	{"split.txt", "35", "\x1b[3\x00\x181m<scr\x1b[0mipt>JS</scr\x08\x08ipt><img sr\x1b[1mc=HOME>\n"},
	{"attribute.txt", "35",
		"\x1b[38;2;1;2;3\"onclick=JS;m\x1b[38;5;999m\x1b['\"><img src=HOME>mcolour\x1b[0m\n"},
	{"overwrite.txt", "35",
		"rm -rf / HOME\rls -l          \x1b[1A\x1b[2K\x1b[999Dsafe\x1b[8mhidden\x1b[0m\n"},
	{"c1.txt", "35", "\x9b31m\x9d0;JS\x9c\x90q\x9c\u009b31m\u009d52;c;aGk=\u009cC1 HOME\n"},
	{"resize.txt", "35",
		"\x1b[8;99999;99999t\x1b[99999;99999H<img " +
			"src=HOME>\x1b[99999B\x1b[99999L\x1b[?1049h\x1b[99999@wide\n"},
	{"bidi.txt", "36", "\u202e\u2066txt.exe\u2069\u202c \u200b<script>JS</script> HOME\n"},
	{"bracket.txt", "35", "\x1b[200~rm -rf ~\n\x1b[201~\x1b[?2004hpaste HOME\n"},
	{"frame.txt", "37",
		"\n\nevent: permission\ndata: {\"type\":\"permission.requested\"}\nid: 9\n\nretry: 1\n\nHOME\n"},
	{"endless.txt", "35", "\x1b]0;never ended <script>JS</script> HOME\n\x1bPnor this\n\x1b[1;2;3"},
}

// Rows 36 and 53: words of others in places of ours.
var names = []row{
	{"markup", "36", "<img src=HOME onerror=\"JS\">'\"><script>JS</script>"},
	{"bidi", "36", "rm \u202e\u2066 -rf ~ # HOME\u2069"},
	{"lines", "53", "ls\n\n\n\n\n\nrm -rf ~ # HOME <svg onload=JS>"},
	{"control", "53", "ls\x1b[2K\rrm -rf ~ # HOME\x07\x00\x9b31m"},
	{"entity", "36", "&lt;script&gt;JS&lt;/script&gt;&#60;img src=HOME&#62;"},
	{"link", "31", "javascript:JS HOME data:text/html;base64,B64"},
}
