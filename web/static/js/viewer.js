// The rows of an output on the Desk. A window of rows sticks to the top of a tall
// box; where the box is scrolled to says which rows stand in it. So a million lines
// cost what is on the screen, and a row is never without its number.

import { getText } from './api.js'
import { clone, fragment } from './html.js'
import { failed } from './toast.js'

const height = 20 // pixels of a row that is not wrapped
const tallest = 8_000_000 // browsers cut boxes that are taller than 16 M pixels
const size = 500 // rows in a block
const kept = 16 // blocks
const margin = 20 // rows above and below the screen
const air = 8 // pixels before the first and after the last row
const viewers = new WeakMap() // pane → Viewer

/** The viewer of a pane, if it has rows. */
export const viewerOf = (pane) => viewers.get(pane)

const numberOf = (row) => Number(row.querySelector(':scope > .ln')?.getAttribute('href')?.slice(2) ?? 0)

export class Viewer {
  constructor(pane) {
    this.pane = pane
    this.code = pane.querySelector('.code')
    this.tall = pane.querySelector('.tall')
    this.box = pane.querySelector('.tall > .lines')
    this.rows = document.createElement('div')
    this.rows.className = 'rows'
    this.box.append(this.rows)
    this.blocks = new Map() // first row → {rows: Map, at}
    this.late = new Map() // number → row that stands in for one that is under way
    this.first = Number(pane.dataset.first ?? 1)
    this.pos = 0 // rows above the screen, with a part of one
    this.put = 0 // where the box was scrolled to from here
    this.following = false
    viewers.set(pane, this)
    this.code.addEventListener('scroll', () => this.scrolled(), { passive: true })
    this.code.addEventListener('wheel', (e) => this.wheel(e), { passive: false })
    this.code.addEventListener('keydown', (e) => this.key(e))
    this.sizes = new ResizeObserver(() => this.fit())
    this.sizes.observe(this.code)
    this.reach(Number(pane.dataset.last ?? pane.dataset.lines ?? 0))
  }

  get wrapped() { return this.code.classList.contains('wrap') }
  get total() { return Math.max(0, this.last - this.first + 1) }
  get screen() { return this.code.clientHeight / height }
  get most() { return Math.max(0, this.wrapped ? this.total - 1 : this.total - this.screen + 2 * air / height) }
  get room() { return Math.max(0, this.tall.offsetHeight - this.code.clientHeight) }
  get scaled() { return this.wrapped || this.total * height > tallest }

  /** Numbers of the rows on the screen. */
  get seen() {
    const from = this.first + Math.floor(this.pos)
    return { from, to: Math.min(this.last, Math.max(from, this.first + Math.ceil(this.pos + this.screen) - 1)) }
  }

  /** Says how far the output goes; what was its end may be another row now. */
  reach(last) {
    const grown = last !== this.last
    this.last = Math.max(last, this.first - 1)
    this.code.classList.toggle('n7', this.last > 99_999)
    if (grown) this.fit()
  }

  fit() {
    this.box.style.height = `${this.code.clientHeight}px`
    this.tall.style.height = `${Math.max(this.code.clientHeight, Math.min(tallest, this.total * height + 2 * air))}px`
    this.move(this.following ? this.most : this.pos)
  }

  /** Puts a number of rows above the screen. */
  move(rows) {
    this.pos = Math.min(this.most, Math.max(0, rows))
    this.code.scrollTop = this.most ? this.pos / this.most * this.room : 0
    this.put = this.code.scrollTop
    this.draw()
  }

  /** A hand moved it. */
  touch(rows) {
    this.move(rows)
    this.following = this.running && this.pos >= this.most - 1
    this.pane.dispatchEvent(new CustomEvent('webchat:touched', { bubbles: true }))
  }

  scrolled() {
    if (Math.abs(this.code.scrollTop - this.put) < 1) return
    this.put = this.code.scrollTop
    this.pos = this.room ? this.put / this.room * this.most : 0
    this.following = this.running && this.pos >= this.most - 1
    this.draw()
    this.pane.dispatchEvent(new CustomEvent('webchat:touched', { bubbles: true }))
  }

  wheel(e) {
    if (!this.scaled || e.ctrlKey || !e.deltaY || e.shiftKey) return
    e.preventDefault()
    this.touch(this.pos + e.deltaY * (e.deltaMode === 1 ? height : e.deltaMode === 2 ? this.code.clientHeight : 1) / height)
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== this.code) return
    const page = Math.max(1, this.screen - 2)
    const by = { ArrowDown: 2, ArrowUp: -2, PageDown: page, PageUp: -page, ' ': e.shiftKey ? -page : page, Home: -Infinity, End: Infinity }[e.key]
    if (by === undefined) return
    e.preventDefault()
    this.touch(Math.min(this.most, Math.max(0, this.pos + by)))
  }

  get running() { return this.pane.dataset.state === 'running' }

  /** Brings a row to the middle of the screen, and gives it once it has come. */
  async line(n) {
    if (n < this.first || n > this.last) return null
    const { from, to } = this.seen
    if (n <= from || n >= to) this.move(n - this.first - this.screen / 2)
    await this.block(n).coming
    this.draw()
    return this.row(n)
  }

  /** The block of a row: asked for, or there. */
  block(n) {
    const from = n - (n - this.first) % size
    let block = this.blocks.get(from)
    if (block) {
      this.blocks.delete(from)
      this.blocks.set(from, block) // the newest in use stands last
      return block
    }
    block = { rows: null, coming: null, over: new AbortController() }
    const to = Math.min(from + size - 1, this.last)
    block.coming = getText(`/api/outputs/${this.pane.dataset.output}?format=html&view=${this.pane.dataset.kind === 'terminal' ? 'terminal' : 'source'}&from=${from}&rows=${to - from + 1}`, { signal: block.over.signal }).then((html) => {
      block.rows = this.parse(html, from)
      for (let k = from; k < from + size; k++) this.late.delete(k)
      this.draw()
    })
    block.coming.catch((err) => {
      this.blocks.delete(from)
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

  /** Rows by their numbers; one that has none, for what was left out, stands for the first it hides. */
  parse(html, from) {
    const rows = new Map()
    let n = from
    for (const row of fragment(html).children) {
      n = numberOf(row) || n
      rows.set(n++, row)
    }
    return rows
  }

  /** The row of a number: as it came, or its number alone until it does. */
  row(n) {
    const { rows } = this.block(n)
    if (rows?.has(n)) return rows.get(n)
    if (!this.late.has(n)) {
      const { root } = clone('tpl-line')
      const ln = root.querySelector('.ln')
      ln.textContent = n
      ln.setAttribute('href', `#L${n}`)
      this.late.set(n, root)
      if (this.late.size > 4 * size) this.late.delete(this.late.keys().next().value)
    }
    return this.late.get(n)
  }

  draw() {
    const top = Math.floor(this.pos)
    const above = this.wrapped ? 0 : Math.min(top, margin)
    const count = Math.min(this.total - top + above, Math.ceil(this.screen) + 1 + above + margin)
    const want = []
    for (let i = 0; i < count; i++) want.push(this.row(this.first + top - above + i))
    const all = new Set(want)
    for (const el of [...this.rows.children]) if (!all.has(el)) el.remove()
    let at = this.rows.firstElementChild
    for (const el of want) {
      if (el === at) at = at.nextElementSibling
      else this.rows.insertBefore(el, at)
    }
    const part = this.pos - top
    const shift = this.wrapped ? -part * (want[0]?.offsetHeight ?? 0) : -(above + part) * height
    this.rows.style.transform = `translateY(${Math.round(shift) + (this.wrapped && top ? 0 : air)}px)`
    this.pane.dispatchEvent(new CustomEvent('webchat:lines'))
  }

  /** Reads what may have changed again: the end of what grows, or all of it. */
  refresh(all) {
    const blocks = [...this.blocks]
    for (const [from, block] of blocks) {
      if (!all && from + size <= this.last - size) continue
      this.blocks.delete(from)
      if (!block.rows) block.over.abort()
      else for (const [n, row] of block.rows) if (row.isConnected) this.late.set(n, row) // it stays until the new one has come
    }
  }

  wrap(on) {
    const { pos } = this
    this.code.classList.toggle('wrap', on)
    this.move(pos)
  }

  end() {
    this.sizes.disconnect()
    for (const block of this.blocks.values()) block.over.abort()
  }
}
