// The rows of an output by their places: asked for in blocks, and kept while they are near.

import { get, getText } from './api.js'
import { clone, fragment } from './html.js'
import { came } from './reading.js'
import { failed } from './toast.js'
import { keepLifted } from './veil.js'

const size = 500 // rows in a block
const kept = 16 // blocks
const written = new Intl.NumberFormat('en')

/** Rows that are asked for above and below the screen. */
export const margin = 20

/** Writes the number of a row as people read it. It is not a stop of the keyboard: there are too many of them. */
function number(row, n) {
  const ln = row.querySelector(':scope > .ln')
  if (!ln || !n) return
  if (n > 999) {
    ln.textContent = written.format(n)
    ln.setAttribute('aria-label', `Line ${ln.textContent}`)
  }
  ln.tabIndex = -1
}

/** The number of a row's line; 0: it has none. */
export const numberOf = (row) => Number(row.querySelector(':scope > .ln')?.getAttribute('href')?.slice(2) ?? 0)

/**
 * Rows have places, from 0. A row's place is its line's number less the first one's,
 * but for what was left out of the middle, which is one row, and while only the lines
 * that match are shown. Whoever extends it draws: fit() when how many there are has changed, and
 * draw() when rows have come.
 */
export class Lines {
  constructor(pane) {
    this.pane = pane
    this.blocks = new Map() // first place → {rows: Map, at}
    this.late = new Map() // place → row that stands in for one that is under way
    this.first = Number(pane.dataset.first ?? 1)
    this.gap = null // {after, next}: the lines before and behind what was left out
    this.only = null // {re, total}: the lines that match
    this.inserts = [] // {line, rows}: rows before a line that are none of the output's
    this.fresh = new Set() // numbers of lines that changed
    this.behind = false // the end has grown, and its rows are under way
  }

  get total() {
    if (this.only) return this.only.total
    return Math.max(0, this.last - this.first + 1 + this.inserts.reduce((n, { rows }) => n + rows.length, 0) - (this.gap ? this.gap.next - this.gap.after - 2 : 0))
  }

  /** The place of a line; of one that was left out, the place of the row that says so. */
  place(n) {
    const { gap, first } = this
    if (!gap) return this.inserts.reduce((place, { line, rows }) => (line <= n ? place + rows.length : place), n - first)
    if (n <= gap.after) return n - first
    return n < gap.next ? gap.after + 1 - first : n - gap.next + gap.after + 2 - first
  }

  /** The line at a place; of the row that stands for many, the first of these. 0: it has not come yet. */
  lineAt(place) {
    const { gap, first } = this
    if (this.only) return this.only.total ? numberOf(this.rowAt(Math.min(place, this.only.total - 1))) : 0
    let n = first + place
    for (const { line, rows } of this.inserts) { // those before have been taken off
      if (n < line) break
      n = Math.max(line, n - rows.length)
    }
    return !gap || n <= gap.after + 1 ? n : n - gap.after - 2 + gap.next
  }

  /** Whether rows of the last screen are not there; they are asked for. */
  lacks() {
    const ends = [Math.max(0, Math.floor(this.most) - margin), Math.max(0, this.total - 1)]
    return ends.map((place) => this.block(place)).some(({ rows }) => !rows)
  }

  /** The row at a place that is none of the output's, if there is one. */
  inserted(place) {
    if (this.only) return undefined
    for (const { line, rows } of this.inserts) {
      const at = this.place(line) - rows.length
      if (place < at) break
      if (place < at + rows.length) return rows[place - at]
    }
    return undefined
  }

  /** Lets a row stand for line n until that has come. */
  stand(n, row) {
    const ln = row.querySelector(':scope > .ln')
    ln.textContent = n
    ln.setAttribute('href', `#L${n}`)
    number(row, n)
    row.classList.toggle('is-fresh', this.fresh.has(n))
    this.late.set(this.place(n), row)
  }

  numberOf(row) { return numberOf(row) }

  /** What to ask the server for to get the rows at these places. */
  query(from, to) {
    if (this.only) return `from=${from + 1}&rows=${to - from + 1}&filter=${encodeURIComponent(this.only.re)}`
    // The row for what was left out comes with the line before it.
    const at = (place) => this.lineAt(place) - (this.gap && this.first + place === this.gap.after + 1 ? 2 : 0)
    const a = Math.max(this.first, at(from))
    const b = Math.max(a, this.lineAt(to))
    const skipped = this.gap && a <= this.gap.after && b >= this.gap.next // one request cannot ask for so many
    return `from=${a}&rows=${(skipped ? this.gap.after + 1 : b) - a + 1}`
  }

  /** The block of a place: asked for, or there. */
  block(place) {
    const from = place - place % size
    let block = this.blocks.get(from)
    if (block) {
      this.blocks.delete(from)
      this.blocks.set(from, block) // the newest in use stands last
      return block
    }
    block = { rows: null, coming: null, over: new AbortController() }
    const to = Math.min(from + size, this.total) - 1
    block.coming = this.fetch(from, to, block.over.signal).then((rows) => {
      block.rows = rows
      for (let k = from; k < from + size; k++) this.late.delete(k)
      if (!this.behind) return this.draw()
      this.behind = this.lacks()
      if (!this.behind) this.fit()
    })
    block.coming.catch((err) => {
      this.behind = false
      if (this.blocks.get(from) === block) this.blocks.delete(from)
      if (err.name === 'AbortError') return
      if (err.status === 404) this.pane.dispatchEvent(new CustomEvent('webchat:stale', { bubbles: true }))
      else if (err.status) failed(err)
    })
    this.blocks.set(from, block)
    for (const [key, old] of this.blocks) {
      if (this.blocks.size <= kept) break
      old.over.abort()
      this.blocks.delete(key)
    }
    return block
  }

  async fetch(from, to, signal) {
    const view = this.pane.dataset.kind === 'terminal' ? 'terminal' : 'source'
    const begun = !this.only && from === 0 && came(this.pane)?.rows(view)
    if (begun) return this.parse(begun, from)
    const address = `/api/outputs/${this.pane.dataset.output}?format=html&view=${view}&`
    const reply = await get(address + this.query(from, to), { signal })
    const html = fragment(await reply.text())
    if (reply.headers.get('Webchat-Gap')) this.leftOut(reply.headers.get('Webchat-Gap'))
    const rows = this.parse(html, from)
    const { gap } = this
    if (this.only || !gap || this.lineAt(from) > gap.after || this.lineAt(to) < gap.next) return rows
    const rest = fragment(await getText(`${address}from=${gap.next}&rows=${this.lineAt(to) - gap.next + 1}`, { signal }))
    for (const [place, row] of this.parse(rest, this.place(gap.next))) rows.set(place, row)
    return rows
  }

  /** Rows by their places. */
  parse(html, from) {
    const rows = new Map()
    let place = from
    for (const row of [...html.children]) {
      const n = numberOf(row)
      number(row, n)
      keepLifted(this.pane.dataset.output, row, n)
      row.classList.toggle('is-fresh', this.fresh.has(n))
      if (!this.only) place = n ? this.place(n) : this.gap ? this.gap.after + 1 - this.first : place
      rows.set(place++, row)
    }
    return rows
  }

  /** The row at a place: as it came, or its number alone until it does. */
  rowAt(place) {
    const other = this.inserted(place)
    if (other) return other
    const { rows } = this.block(place)
    if (rows?.has(place)) return rows.get(place)
    if (!this.late.has(place)) {
      const { root } = clone('tpl-line')
      const ln = root.querySelector('.ln')
      if (this.only) ln.textContent = '…'
      else {
        ln.textContent = this.lineAt(place)
        ln.setAttribute('href', `#L${this.lineAt(place)}`)
        number(root, this.lineAt(place))
      }
      this.late.set(place, root)
      if (this.late.size > 4 * size) this.late.delete(this.late.keys().next().value)
    }
    return this.late.get(place)
  }

  /** Reads the end of what grows again; its rows stay until the new ones have come. */
  refresh() {
    if (this.later) {
      this.looking = true
      this.leftOut(this.later)
      this.looking = false
      this.later = ''
    }
    for (const [from, block] of [...this.blocks]) {
      if (from + size <= this.total - size) continue
      this.blocks.delete(from)
      if (!block.rows) block.over.abort()
      else for (const [place, row] of block.rows) if (row.isConnected) this.late.set(place, row)
    }
  }

  /** Forgets the blocks that reach beyond a place. */
  forget(place) {
    for (const [from, block] of [...this.blocks]) {
      if (from + size <= place) continue
      if (!block.rows && from > place) block.over.abort()
      this.blocks.delete(from)
    }
    for (const key of [...this.late.keys()]) if (key >= place) this.late.delete(key)
  }
}
