// Package views shows stored outputs as HTML: any rows of a file or of what a command wrote, by
// their numbers as shown, for the API and for pages alike.
//
// What it makes of an output is kept with that, so that a window costs what it shows and not what
// is above it. Tables and trees are made of all of a text, up to the
// size that limits has for its format; a larger text is lines. A request works no longer than
// package render's limit on highlighting, and 2 s on a filter of lines: what is not known by then
// is shown plain, or the window says that it is partial, and asking again goes on from there. A
// [Views] may be used from anywhere.
//
// # Views of an output
//
// GET /api/outputs/{id}?format=html&view=V&from=N&rows=N returns rows from N on (counted from 1;
// 500 rows by default, at most 5,000), with the headers
//
//	Webchat-Views    the views the output has, the default first, such as "table source diff"
//	Webchat-View     the one this is; view=default asks for the first
//	Webchat-Rows     A-B/TOTAL: the rows in the answer, and how many there are
//	Webchat-Partial  1: lines are still looked for, ask again
//	Webchat-Note     of source and hex: why there is no better view
//
// HEAD gives the headers alone, and format=json has the names of the views as "views". Which views
// there are is decided by content: a name only says what to try.
//
//	source    lines; rows are their numbers as shown, from Webchat-First to TOTAL. What was
//	          left out is one row of class "gap", and Webchat-Gap: A-B are the lines before
//	          and behind it, which are one line if its middle was left out. filter=RE leaves the lines that match, with
//	          their own numbers: rows count these, at=L120 puts those around line 120 in the
//	          window, and Webchat-Left-Out says how many bytes were not kept
//	terminal  the same of a command. Files with a line are links (a.at-src with data-path and
//	          data-line), addresses too. Webchat-Failure: A-B are the lines about the first
//	          failure, if there is one
//	failure   of a command: the first failure, what failed and where, for a place above
//	preview   Markdown; rows are blocks, each with data-line, also within details.fold. A
//	          picture is its description: one of a file beside the text in span.pic-ref
//	          [data-to=ADDRESS], any other with its address in span.href. A link to a file
//	          is a[data-to=ADDRESS], one to a place in the text a[href="#NAME"], whose
//	          element has the id "user-content-NAME". In the block of a Mermaid diagram,
//	          button[data-diagram] stands above its source
//	table     records of CSV, TSV, JSON lines, a JSON array of objects; rows are records.
//	          One that cannot be parsed is shown as it is, and says so.
//	          filter (several: all must hold) is a text, or column:test:value with a column
//	          from 1 and is, not, has, starts, ends, above, below, empty, filled, matches;
//	          sort is a column, with a minus for falling. Webchat-Records counts all.
//	          Of an SQLite file, the rows of the table whose number (from 1) at is, below
//	          the names of all (ol.tables)
//	schema    of an SQLite file: the statements that make what is in it, which never run
//	tree      children of the value with handle at (data-at; none: of all); rows are children,
//	          100 at first, and then one li.range whose data-from goes on. data-step is what
//	          a value adds to the path of the one it is in, data-lines where it stands.
//	          Webchat-Broken: N says that the JSON is broken from line N on
//	diff      with={output}: what changed since that output; without it, what a session
//	          changed, of an output that shows that. Rows are lines and folds
//	          (data-lines). at=C3 puts the third change (data-change) in the window.
//	          Webchat-Added, -Removed and -Changes count
//	notebook  cells of a notebook of format 4, .cell[data-cell]: Markdown, code, and what it
//	          wrote, .cell-out. A picture is span.pic-ref[data-picture=TYPE][data-bytes=BASE64],
//	          and what was written as HTML button[data-html], the query for its page
//	page      not HTML of rows: GET /api/outputs/{id}/page is the file, and with the query of
//	          a button[data-html] what a cell wrote, for a frame. It runs and loads nothing
//	hex       bytes; a row is 16 of them
//	list      names in a folder or in an archive (.member): .entry, with .dir and .link, .size and
//	          .when. Sort is 1 for names, 2 for sizes, 3 for times, with a minus for falling; folders
//	          stay first
//	picture   not HTML: the bytes, as an image
//	audio     not HTML: the bytes, from /api/outputs/{id}/media
//	video     the same
//
// What rows are made of stands at the functions of package render: [render.Table], [render.Tree],
// [render.DiffRows], [render.Places], [render.Entries]. The only attributes are class, aria-*,
// role, data-* and the href of links, never a style.
package views
