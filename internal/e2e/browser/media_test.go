package browser

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/base64"
	le "encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	_ "modernc.org/sqlite"
)

// tone is a WAV file of so many seconds.
func tone(seconds int) string {
	const rate = 8000
	var b bytes.Buffer
	b.WriteString("RIFF")
	n := uint32(seconds * rate)
	for _, part := range []any{36 + n, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8), []byte("data"), n} {
		if err := le.Write(&b, le.LittleEndian, part); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	for i := range n {
		b.WriteByte(byte(128 + 40*math.Sin(2*math.Pi*440*float64(i)/rate)))
	}
	return b.String()
}

// recorded is a short WebM that the browser makes itself of a picture that changes.
func (p *page) recorded() string {
	p.t.Helper()
	data, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`new Promise((done, failed) => {
		const canvas = document.createElement('canvas')
		canvas.width = 320
		canvas.height = 180
		const c = canvas.getContext('2d')
		const recorder = new MediaRecorder(canvas.captureStream(25), { mimeType: 'video/webm' })
		const parts = []
		recorder.ondataavailable = (e) => parts.push(e.data)
		recorder.onerror = failed
		recorder.onstop = async () => {
			const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
			done(btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join('')))
		}
		let n = 0
		const draw = () => {
			c.fillStyle = 'hsl(' + n * 12 + ' 70% 45%)'
			c.fillRect(0, 0, 320, 180)
			if (++n < 25) setTimeout(draw, 40)
			else recorder.stop()
		}
		recorder.start()
		draw()
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) < 500 {
		p.t.Fatalf("%d bytes: %v", len(b), err)
	}
	return string(b)
}

// Audio and video are known by their bytes, whatever they are called, and play on the Desk, from
// any place in them. What calls itself audio and is a page is text.
func TestAudioAndVideo(t *testing.T) {
	s, p := desked(t)
	s.put("tone.txt", tone(60))
	s.put("clip.bin", p.recorded())
	s.put("evil.mp3", "<script>alert(1)</script>\n")
	const player = onDesk + `.querySelector('.player :is(audio, video)')`
	p.told("show me tone.txt")
	p.front("tone.txt")
	p.wait(player + `.matches('audio[controls]') && ` + player + `.readyState > 0`)
	p.is(`Math.round(`+player+`.duration) + ' s of audio'`, "60 s of audio")
	p.js(player + `.currentTime = 42`)
	p.wait(`!` + player + `.seeking && ` + player + `.currentTime === 42`)
	p.js(player + `.muted = true`)
	p.js(player + `.play()`)
	p.wait(player + `.currentTime > 42.2`)
	p.js(player + `.pause()`)
	p.is(`String(`+player+`.error)`, "null")
	p.shot("desk-audio")
	p.accessible("audio on the Desk")
	p.is(onDesk+`.querySelector('[data-view=audio]').ariaChecked`, "true")
	p.click(`.pane:not([hidden]) [data-view=hex]`)
	p.has(".pane:not([hidden]) .other", "WAVEfmt")

	p.say("/show clip.bin")
	p.front("clip.bin")
	p.wait(player + `.matches('video[controls]') && ` + player + `.videoWidth === 320`)
	p.js(player + `.muted = true`)
	p.js(player + `.play()`)
	p.wait(player + `.currentTime > 0.2`)
	p.js(player + `.pause()`)
	p.js(player + `.currentTime = 0.1`)
	p.wait(`!` + player + `.seeking && ` + player + `.currentTime < 0.2`)
	p.shot("desk-video")
	p.accessible("video on the Desk")

	p.say("/show evil.mp3")
	p.front("evil.mp3")
	p.has(".pane:not([hidden]) .rows", "<script>alert(1)</script>")
	p.is(onDesk+`.querySelectorAll('.player').length + ' players'`, "0 players")
}

// What is audio by its first bytes and a script by all of them plays, or does not, and never runs:
// the route of media gives it a type that is no script's, and a browser that opens it saves it.
func TestMediaNeverRuns(t *testing.T) {
	s, p := desked(t)
	p.expect("MIME type")
	s.put("song.js", "RIFF=1/*WAVEfmt \x00*/;window.ran=1//")
	p.say("/show song.js")
	p.front("song.js")
	p.has(".pane:not([hidden]) .player", "This browser cannot play this file.")
	p.wait(`import(` + onDesk + `.querySelector('audio').src).then(() => false, () => window.ran === undefined)`)
	p.wait(`fetch(` + onDesk + `.querySelector('audio').src).then((r) => r.headers.get('Content-Type') === 'audio/wav' &&
		r.headers.get('Content-Disposition').startsWith('attachment') && r.headers.get('Content-Security-Policy').includes('sandbox'))`)
	p.accessible("audio that cannot be played")
}

// An archive is the list of its names, with nothing hidden in them; one that would unpack to very
// much is bytes, with a sentence that says so.
func TestArchives(t *testing.T) {
	s, p := desked(t)
	at := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	var z, g bytes.Buffer
	zw := zip.NewWriter(&z)
	for _, name := range []string{"relay/", "relay/pump.go", "relay/README.md", "../../etc/passwd", "photo\u202egnp.exe"} {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: name, Modified: at, Method: zip.Deflate})
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = fmt.Fprint(w, strings.Repeat(name, 40+len(name)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	gz := gzip.NewWriter(&g)
	tw := tar.NewWriter(gz)
	for i := range 2000 {
		body := fmt.Sprint("file ", i)
		if err := tw.WriteHeader(&tar.Header{Name: fmt.Sprintf("logs/%04d.log", i), Size: int64(len(body)), ModTime: at}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{zw, tw, gz} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s.put("relay.zip", z.String())
	s.put("logs.tar.gz", g.String())
	bomb := bytes.Clone(z.Bytes())
	le.LittleEndian.PutUint32(bomb[bytes.LastIndex(bomb, []byte("PK\x01\x02"))+20:], 1<<31) // its files share their bytes
	s.put("bomb.zip", string(bomb))

	const list = onDesk + `.querySelector('.other[data-shows=list]')`
	p.told("show me relay.zip")
	p.front("relay.zip")
	p.has(".pane:not([hidden]) .other", "photoU+202Egnp.exe")
	p.has(".pane:not([hidden]) .other", "../../etc/passwd")
	p.has(".pane:not([hidden]) .other", "3 Feb 2024")
	p.is(list+`.querySelectorAll('.entry [role=link], .entry[role=link], a').length + ' links'`, "0 links")
	p.shot("desk-archive")
	p.accessible("an archive on the Desk")
	p.click(`.pane:not([hidden]) [data-sort="2"]`)
	p.wait(list + `.querySelectorAll('.entry')[1].textContent.includes('pump.go')`)
	p.click(`.pane:not([hidden]) [data-sort="2"]`)
	p.wait(list + `.querySelectorAll('.entry')[1].textContent.includes('passwd')`)

	p.say("/show logs.tar.gz")
	p.front("logs.tar.gz")
	p.has(".pane:not([hidden]) .other", "logs/0000.log")
	p.js(list + `.scrollTo({ top: 1e9 })`)
	p.has(".pane:not([hidden]) .other", "logs/1999.log")

	p.say("/show bomb.zip")
	p.front("bomb.zip")
	p.has(".pane:not([hidden]) .vbar", "This archive unpacks to far more than its size, as bombs do, so its bytes are shown.")
	p.has(".pane:not([hidden]) .other", "relay/pump.go")
	p.shot("desk-archive-bomb")
}

// A database is tables: one is chosen above the rows, which can be sorted and filtered, and how all
// was made is text. One that is damaged is bytes, with a sentence.
func TestSQLiteTables(t *testing.T) {
	s, p := desked(t)
	db, err := sql.Open("sqlite", filepath.Join(s.workspace, "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TABLE sinks (id INTEGER PRIMARY KEY, host TEXT NOT NULL, region TEXT, frames INTEGER, seen DATETIME, icon BLOB)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1200)
			INSERT INTO sinks SELECT i, 'argus-' || i, CASE i%3 WHEN 0 THEN 'eu-north' WHEN 1 THEN 'us-east' END, (i*37)%1009, '2026-11-21 21:57:52', zeroblob(i%40) FROM n`,
		`CREATE TABLE notes (sink INTEGER REFERENCES sinks, text TEXT)`, `INSERT INTO notes VALUES (3, '<b>not bold</b> ' || char(8238) || 'turned')`,
		`CREATE VIEW lost AS SELECT * FROM sinks WHERE region IS NULL`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.put("broken.db", "SQLite format 3\x00"+strings.Repeat("\x00\x01\x02\x03", 300))

	p.told("show me relay.db")
	p.front("relay.db")
	p.has(".pane:not([hidden]) .vbar", "1,200 rows")
	p.has(".pane:not([hidden]) .dhead .meta", "SQLite · ")
	p.is(`String(document.querySelectorAll('[data-act=read]').length)`, "0") // no model could
	p.has(".pane:not([hidden]) .records", "argus-500")
	p.is(onDesk+`.querySelector('.vbar select').textContent`, "sinksnotes")
	p.shot("desk-sqlite")
	p.accessible("a database on the Desk")
	p.click(`.pane:not([hidden]) .records th[data-col="4"] button`)
	p.has(".pane:not([hidden]) .dfoot", "By frames, largest first")
	p.is(onDesk+`.querySelector('.records tbody td:nth-child(5)').textContent`, "1,008")
	p.js(onDesk + `.querySelector('.vbar input').focus()`)
	p.write("region is empty")
	p.press("Enter")
	p.has(".pane:not([hidden]) .vbar", "400 of 1,200 rows")
	p.js(`const s = ` + onDesk + `.querySelector('.vbar select'); s.value = '2'; s.dispatchEvent(new Event('change'))`)
	p.has(".pane:not([hidden]) .records", "<b>not bold</b> U+202Eturned")
	p.has(".pane:not([hidden]) .vbar", "1 row")
	p.click(`.pane:not([hidden]) [data-view=schema]`)
	p.has(".pane:not([hidden]) .other", "CREATE VIEW lost AS SELECT * FROM sinks WHERE region IS NULL;")
	p.shot("desk-sqlite-schema")
	p.accessible("what a database is made of")

	p.say("/show broken.db")
	p.front("broken.db")
	p.has(".pane:not([hidden]) .vbar", "This SQLite file is damaged, or it needs what is not read here, so its bytes are shown.")

	// In one column the cards show their views.
	s.put("conf.json", `{"name":"relay","sinks":[{"host":"argus"},{"host":"birch"}],"limits":{"frames":64}}`)
	s.put("plot.ipynb", `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"cell_type":"markdown","source":"# Growth"},
		{"cell_type":"code","execution_count":1,"source":"frame.head()","outputs":[{"output_type":"stream","name":"stdout","text":"read 2 rows"}]}]}`)
	s.put("notes.md", "# Relay\n\nIt *moves* frames, see [the settings](conf.json).\n\n- one\n- two\n")
	s.put("hosts.csv", "id,state,host,region\n1,open,argus-00.relay.example,eu-north\n2,,birch-07.relay.example,eu-west\n")
	for _, name := range []string{"conf.json", "plot.ipynb", "notes.md", "hosts.csv"} {
		p.told("show me " + name)
		p.front(name)
		if name == "plot.ipynb" {
			p.has(".pane:not([hidden]) .dhead .meta", "Notebook · ")
		}
	}
	p.touch(390, 844)
	p.is(`[...document.querySelectorAll('#turns .card[data-state=done] > :is(.other, .with-map)')].map((e) => e.dataset.shows ?? 'lines').join()`,
		"table,lines,tree,notebook,preview,table")
	p.has("#turns .card .records", "argus-2")
	for _, name := range []string{"relay.db", "conf.json", "plot.ipynb", "notes.md", "hosts.csv"} {
		p.js(`document.querySelector('#turns .card[data-name="` + name + `"]').scrollIntoView()`)
		p.shot("phone-card-" + name)
	}
	p.is(`String(document.documentElement.scrollWidth <= innerWidth)`, "true")
	p.accessible("cards with views")
	p.tap(`#turns .card[data-name="relay.db"] .card-fold`)
	p.wait(`document.querySelector('.app.sheet')`)
	p.front("relay.db")
}
