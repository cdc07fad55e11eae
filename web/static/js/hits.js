// What a search of texts found, as it comes: files, their lines that match and those
// around them. Only what is near the screen is drawn.

import { post } from './api.js'
import { clone, plain, some } from './html.js'
import { asker } from './latest.js'

const atOnce = 200 // lines that are drawn in one go
const mostColoured = 16 << 10 // bytes that are coloured in one go
const mostRound = 2000 // hits: all before the last one would have to be drawn

/** Text in which nothing hides; tabs stay. */
const shown = (text) => text.split('\t').map(plain).join('\t')

const joined = (lines) => lines.map(({ text }) => text).join('\n')
const bytes = (lines) => new TextEncoder().encode(joined(lines)).length

/** A line with its matches marked. */
function row(line) {
  const { root } = clone('tpl-grep-line')
  const [number, text] = root.children
  number.textContent = line.line.toLocaleString('en')
  root.dataset.line = line.line
  write(text, line)
  root.classList.toggle('found', line.ranges.length > 0)
  return root
}

/** Writes a line in the colours of its spans, but for its matches. */
function write(box, { text, column, more, ranges }, spans = []) {
  box.replaceChildren(column ? '…' : '')
  const part = (name, from, to, className = '') => {
    if (from >= to) return
    const el = document.createElement(name)
    el.className = className
    el.textContent = shown(text.slice(from, to))
    box.append(name === 'span' && !className ? el.textContent : el)
  }
  const between = (from, to) => {
    let at = 0
    for (const { n, c } of [...spans, { n: text.length }]) {
      part('span', Math.max(at, from), Math.min(at + n, to), c)
      at += n
    }
  }
  let at = 0
  for (const [from, to] of ranges) {
    between(at, from)
    part('mark', from, to)
    at = to
  }
  between(at, text.length)
  if (more) box.append('…')
}

export class Hits {
  constructor(box) {
    this.box = box
    this.colours = asker()
    this.changed = () => {} // is called when what is chosen or current changes
    box.addEventListener('scroll', () => this.fill())
    box.addEventListener('click', (e) => this.click(e))
    this.clear()
  }

  clear() {
    this.files = []
    this.all = [] // {file, line} of each hit
    this.at = -1
    this.anchor = -1
    this.drawn = { file: 0, line: 0 } // where drawing goes on
    this.chosen = new Set() // indexes of hits
    this.colours.drop()
    this.plain = [] // drawn lines that stand together, and have no colours yet: {path, lines, boxes}
    this.colouring = false
    this.box.replaceChildren()
    this.box.scrollTop = 0
  }

  /** Takes in files; what stands there does not move. */
  take(files) {
    for (const file of files) {
      this.files.push(file)
      file.first = this.all.length
      for (const line of file.lines ?? []) if (line.ranges.length) this.all.push({ file, line: line.line })
      file.last = this.all.length // one more than its last hit
    }
    this.fill()
    if (this.at < 0 && this.all.length) this.current(0)
  }

  fill() {
    const { box, drawn } = this
    while (drawn.file < this.files.length && box.scrollHeight < box.scrollTop + 3 * box.clientHeight) this.draw()
  }

  /** Draws some lines more. */
  draw() {
    const { drawn } = this
    const file = this.files[drawn.file]
    if (!drawn.line) this.head(file)
    const lines = (file.lines ?? []).slice(drawn.line, drawn.line + atOnce)
    let before = file.lines?.[drawn.line - 1]?.line
    const printed = file.output && /\s/.test(file.path) // by a command: no file's name
    let piece
    for (const line of lines) {
      const el = row(line)
      el.classList.toggle('apart', before !== undefined && line.line > before + 1)
      if (!printed && (!piece || line.line > before + 1)) this.plain.push(piece = { path: file.path, lines: [], boxes: [] })
      piece?.lines.push(line)
      piece?.boxes.push(el.children[1])
      before = line.line
      file.root.append(el)
      if (line.ranges.length) file.rows.push(el)
    }
    drawn.line += lines.length
    if (drawn.line >= (file.lines?.length ?? 0)) {
      drawn.file++
      drawn.line = 0
    }
    this.paint(file)
    this.colour()
  }

  /** Colours what is drawn, some lines at a time; until then, and where the server does not, it is plain. */
  async colour() {
    if (this.colouring) return
    this.colouring = true
    const signal = this.colours.begin()
    await new Promise(requestAnimationFrame) // what was found is seen first
    while (this.plain.length && !signal.aborted) {
      let size = 0
      const fits = this.plain.findIndex(({ lines }) => (size += bytes(lines)) > mostColoured)
      const now = this.plain.splice(0, fits < 0 ? this.plain.length : Math.max(1, fits))
      const { pieces } = await post('/api/colours', { pieces: now.map(({ path, lines }) => ({ path, text: joined(lines) })) }, { signal }).catch(() => ({ pieces: [] }))
      if (signal.aborted) return
      for (const [i, spans] of pieces.entries()) if (spans) for (const [k, line] of now[i].lines.entries()) write(now[i].boxes[k], line, spans[k] ?? [])
      if (this.at >= 0) this.paint(this.all[this.at].file)
    }
    if (!signal.aborted) this.colouring = false
  }

  head(file) {
    const { root, parts } = clone('tpl-grep-file')
    const slash = file.path.lastIndexOf('/') + 1
    parts.dir.textContent = plain(file.path.slice(0, slash))
    parts.base.textContent = plain(file.path.slice(slash))
    parts.n.textContent = file.closed ? 'may hold secrets: by name only' : some(file.hits, 'hit')
    Object.assign(file, { root, parts, rows: [] })
    const tick = root.querySelector('.tick')
    tick.hidden = Boolean(file.closed)
    tick.setAttribute('aria-label', `All hits of ${file.path}`)
    root.file = file
    this.box.append(root)
  }

  /** Marks which hits of a file are chosen, and the current one. */
  paint(file) {
    if (!file.root) return
    let n = 0
    for (let i = file.first; i < file.last; i++) if (this.chosen.has(i)) n++
    for (const [k, el] of file.rows.entries()) {
      const i = file.first + k
      el.classList.toggle('on', this.chosen.has(i))
      el.classList.toggle('cur', i === this.at)
      for (const mark of el.querySelectorAll('mark')) mark.classList.toggle('now', i === this.at)
    }
    file.parts.on.textContent = n ? `${n.toLocaleString('en')} selected` : ''
    file.root.querySelector('.tick').setAttribute('aria-checked', n === 0 ? 'false' : n === file.last - file.first ? 'true' : 'mixed')
  }

  /** Makes a hit the current one. */
  current(i) {
    const was = this.all[this.at]
    this.at = i
    if (was) this.paint(was.file)
    this.paint(this.all[i].file)
    this.changed()
  }

  /** To the next hit, or the one before; round the end if that is near. */
  step(by) {
    const { length } = this.all
    if (!length || (this.at + by < 0 && length > mostRound)) return
    this.current((this.at + by + length) % length)
    this.reveal()
  }

  /** Brings the current hit into view. */
  reveal() {
    const hit = this.all[this.at]
    if (!hit) return
    const k = this.at - hit.file.first
    while (!hit.file.rows || hit.file.rows.length <= k) this.draw()
    hit.file.rows[k].scrollIntoView({ block: 'nearest' })
  }

  choose(indexes, on) {
    const files = new Set()
    for (const i of indexes) {
      if (on) this.chosen.add(i)
      else this.chosen.delete(i)
      files.add(this.all[i].file)
    }
    for (const file of files) this.paint(file)
    this.changed()
  }

  toggle(i = this.at) {
    if (i >= 0) this.choose([i], !this.chosen.has(i))
    this.anchor = i
  }

  click(e) {
    const file = e.target.closest('.gfile')?.file
    if (!file) return
    if (e.target.closest('.tick')) {
      const own = Array.from({ length: file.last - file.first }, (_, k) => file.first + k)
      return this.choose(own, !own.every((i) => this.chosen.has(i)))
    }
    const k = file.rows.indexOf(e.target.closest('.line'))
    if (k < 0) return
    const i = file.first + k
    this.current(i)
    if (!e.target.closest('.ln')) return
    if (!e.shiftKey || this.anchor < 0) return this.toggle(i)
    const [from, to] = [Math.min(i, this.anchor), Math.max(i, this.anchor)]
    this.choose(Array.from({ length: to - from + 1 }, (_, n) => from + n), true)
  }

  /** The chosen hits, or else the current one. */
  get meant() {
    if (this.chosen.size) return [...this.chosen].sort((a, b) => a - b)
    return this.at < 0 ? [] : [this.at]
  }

  /** Path, line and text of the meant hits, with the lines around them. */
  text() {
    const by = Map.groupBy(this.meant, (i) => this.all[i].file)
    return [...by].map(([file, own]) => {
      const numbers = new Set(own.map((i) => this.all[i].line))
      const near = (n) => own.some((i) => Math.abs(this.all[i].line - n) <= 3)
      return [file.path, ...file.lines.filter((l) => near(l.line)).map((l) => `${l.line}${numbers.has(l.line) ? ':' : '-'} ${l.column ? '…' : ''}${shown(l.text)}${l.more ? '…' : ''}`)].join('\n')
    }).join('\n\n')
  }
}
