// The rows of an output on the Desk. A window of rows sticks to the top of a tall
// box; where the box is scrolled to says which rows stand in it. So a million lines
// cost what is on the screen, and a row is never without its number.

import { Lines, margin, numberOf } from './viewerlines.js'

const phone = matchMedia('(max-width: 839px)')
const tallest = 8_000_000 // browsers cut boxes that are taller than 16 M pixels
const air = 8 // pixels before the first and after the last row
const viewers = new WeakMap() // pane → Viewer

/** Pixels of a row that is not wrapped, as code.css has it: on phones a finger has to hit it. */
export const rowHeight = () => (phone.matches ? 28 : 20)

/** The viewer of a pane, if it has rows. */
export const viewerOf = (pane) => viewers.get(pane)

/** What of the rows is on the screen, and where that stands in the tall box. */
export class Viewer extends Lines {
  /** A viewer of the same output that this one follows lends it copies of its rows until its own have come. */
  constructor(pane, before) {
    super(pane)
    this.code = pane.querySelector('.code')
    this.tall = pane.querySelector('.tall')
    this.box = pane.querySelector('.tall > .lines')
    this.rows = document.createElement('div')
    this.rows.className = 'rows'
    this.box.append(this.rows)
    this.pos = 0 // rows above the screen, with a part of one
    this.put = 0 // where the box was scrolled to from here; NaN: not known
    this.tallHeight = 0 // pixels of the tall box
    this.fitted = -1 // rows the tall box was made for
    this.measured = 0 // pixels of the screen; 0: not known
    this.fittedTo = 0 // pixels of the screen the rows were drawn for last
    this.width = 0 // and across it, when it was looked at last
    this.following = false
    this.ending = 1 // rows that fill the screen at the end, where rows are wrapped
    this.onScreen = 0 // rows on the screen, where they are wrapped
    this.digits = before?.digits ?? ('reading' in pane.dataset ? 7 : 0) // for which numbers have room: they move no text when more come
    viewers.set(pane, this)
    this.fingers = false // they scroll it, or what they began goes on
    this.heights = null // of the wrapped rows that are drawn: {from: place, list}
    this.code.addEventListener('scroll', () => this.scrolled(), { passive: true })
    if ('onscrollend' in this.code) {
      this.code.addEventListener('touchstart', () => { this.fingers = true }, { passive: true })
      this.code.addEventListener('scrollend', () => this.rest())
    }
    this.code.addEventListener('wheel', (e) => this.wheel(e), { passive: false })
    this.code.addEventListener('keydown', (e) => this.key(e))
    this.sizes = new ResizeObserver(() => { // also called once for what stands as it was measured
      const { clientWidth: width, clientHeight: height } = this.code
      if (height === this.fittedTo && (width === this.width || !this.wrapped)) return
      this.width = width
      this.measured = 0
      this.put = NaN
      this.fit()
    })
    this.sizes.observe(this.code)
    if (before && !before.only) for (const row of before.rows.children) if (numberOf(row)) this.stand(numberOf(row), row.cloneNode(true)) // the other may still draw
    this.reach(Number(pane.dataset.last ?? pane.dataset.lines ?? 0))
  }

  get wrapped() { return this.code.classList.contains('wrap') }

  /** Measured once for each size: asking makes the browser lay everything out. */
  get viewHeight() { return this.measured ||= this.code.clientHeight }
  get screen() { return this.viewHeight / rowHeight() }
  get most() { return Math.max(0, this.wrapped ? this.total - this.ending : this.total - this.screen + 2 * air / rowHeight()) }
  get room() { return Math.max(0, this.tallHeight - this.viewHeight) }
  get scaled() { return this.wrapped || this.total * rowHeight() > tallest }
  get running() { return this.pane.dataset.state === 'running' }

  /** Numbers of the lines on the screen. */
  get seen() {
    const from = Math.floor(this.pos)
    const to = Math.min(this.total - 1, Math.max(from, this.wrapped && this.onScreen ? from + this.onScreen - 1 : Math.ceil(this.pos + this.screen) - 1))
    return { from: Math.min(this.last, this.lineAt(from)), to: Math.min(this.last, this.lineAt(Math.max(0, to))) }
  }

  /** Places of the first and the last row of which the screen has half or more. */
  get whole() {
    const edge = .5 + (this.wrapped ? 0 : air / rowHeight())
    const from = Math.max(0, Math.floor(this.pos - edge) + 1)
    return { from, to: Math.min(this.total - 1, Math.max(from, Math.ceil(this.pos + this.screen - edge) - 1)) }
  }

  /** Says how far the output goes; what was its end may be another row now. Who follows goes there once its rows have come. */
  reach(last) {
    const was = this.last
    this.last = Math.max(last, this.first - 1)
    this.digits = Math.max(this.digits, String(this.last).length)
    this.code.classList.toggle('n7', this.digits > 4)
    this.code.style.setProperty('--digits', this.digits)
    if (this.last === was && this.total === this.fitted) return
    if (this.following && this.rows.firstChild) this.behind = this.lacks()
    if (!this.behind) this.fit()
  }

  /** Takes in which lines were left out: of what grows, more of them with each look. */
  leftOut(text) {
    const [after, next] = text.split('-').map(Number)
    if (this.only || (this.gap?.after === after && this.gap.next === next)) return
    if (this.running && this.gap && !this.looking) { // one change for each look
      this.later = text
      return
    }
    const line = this.lineAt(Math.floor(this.pos))
    this.gap = { after, next }
    this.forget(after - this.first)
    if (this.following && this.looking) return // what has come since then says where the end is
    if (!this.following) this.pos = this.place(line) + this.pos % 1
    this.fit()
  }

  /** Shows only the lines that match, the one at this place where it was on the screen; null: all. */
  filter(re, total, place, line) {
    const offset = (this.only ? place : this.place(line)) - this.pos
    this.only = re ? { re, total } : null
    this.forget(0)
    this.code.classList.toggle('only', Boolean(re))
    this.pos = Math.max(0, (re ? place : this.place(line)) - Math.min(Math.max(0, offset), this.screen - 1))
    this.fit()
  }

  /** Puts rows before lines, and marks lines as changed. What one reads stays where it is. */
  insert(list, fresh) {
    if (this.gap || this.only) return
    const top = Math.floor(this.pos)
    const line = this.lineAt(top) - (this.inserted(top) ? 1 : 0)
    const was = this.place(line)
    const rows = [...this.late.values(), ...[...this.blocks.values()].flatMap((block) => [...block.rows?.values() ?? []])]
    this.inserts = list
    this.fresh = fresh
    this.forget(0)
    for (const row of rows) if (numberOf(row)) this.stand(numberOf(row), row)
    this.pos += this.place(line) - was
    this.fit()
  }

  fit() {
    this.fitted = this.total
    this.fittedTo = this.viewHeight
    this.tallHeight = Math.max(this.viewHeight, Math.min(tallest, this.total * rowHeight() + 2 * air))
    this.box.style.height = `${this.viewHeight}px`
    this.tall.style.height = `${this.tallHeight}px`
    this.move(this.following ? this.most : this.pos)
  }

  /** Puts a number of rows above the screen. */
  move(rows) {
    this.pos = Math.min(this.most, Math.max(0, rows))
    const top = this.most ? this.pos / this.most * this.room : 0
    if (!(Math.abs(top - this.put) < 1)) {
      this.code.scrollTop = top
      this.put = this.code.scrollTop
    }
    this.draw()
  }

  /** A hand moved it. */
  touch(rows) {
    this.move(rows)
    this.following = this.running && this.pos >= this.most - 1
    this.pane.dispatchEvent(new CustomEvent('webchat:touched', { bubbles: true }))
  }

  scrolled() {
    const was = this.put
    const by = this.code.scrollTop - was
    if (Math.abs(by) < 1) return
    this.put = this.code.scrollTop
    const ends = by < 0 ? this.put : this.room - this.put
    const on = this.fingers && was > 0
    if (on && this.scaled && ends > 2 * this.viewHeight) this.pos = Math.min(this.most, Math.max(0, this.beside(by)))
    else if (on) this.pos = by < 0 ? this.pos * this.put / was : this.most - (this.most - this.pos) * ends / (ends + by)
    else this.pos = this.room ? this.put / this.room * this.most : 0
    this.following = this.running && this.pos >= this.most - 1
    this.draw()
    this.pane.dispatchEvent(new CustomEvent('webchat:touched', { bubbles: true }))
  }

  /** The place by pixels from the one at the top: what a finger moves goes with it, however the bar is scaled. */
  beside(by) {
    const tall = (place) => (this.wrapped && this.heights?.list[place - this.heights.from]) || rowHeight()
    let top = Math.floor(this.pos)
    let y = by + (this.pos - top) * tall(top)
    while (y < 0 && top > 0) y += tall(--top)
    while (y >= tall(top) && top < this.total) y -= tall(top++)
    return top + y / tall(top)
  }

  /** Fingers and what they began have come to rest: the bar is where the rows say. */
  rest() {
    if (!this.fingers) return
    this.fingers = false
    this.move(this.pos)
  }

  wheel(e) {
    if (!this.scaled || e.ctrlKey || !e.deltaY || e.shiftKey) return
    e.preventDefault()
    this.touch(this.pos + e.deltaY * (e.deltaMode === 1 ? rowHeight() : e.deltaMode === 2 ? this.viewHeight : 1) / rowHeight())
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== this.code || (e.shiftKey && e.key !== ' ')) return // with Shift lines are chosen
    const page = Math.max(1, this.screen - 2)
    const by = { ArrowDown: 2, ArrowUp: -2, PageDown: page, PageUp: -page, ' ': e.shiftKey ? -page : page, Home: -Infinity, End: Infinity }[e.key]
    if (by === undefined) return
    e.preventDefault()
    this.touch(Math.min(this.most, Math.max(0, this.pos + by)))
  }

  /** Brings a line to the middle of the screen, and gives its row once it has come; at is its place among those that match. */
  async line(n, at) {
    if (n < this.first || n > this.last) return null
    if (this.code.hidden) this.pane.querySelector('[role=radio][data-view=source]')?.click() // a preview has no lines, nor has a table
    if (this.only && at === undefined) this.filter(null, 0, 0, n)
    const place = () => (this.only ? at : this.place(n))
    if (place() <= this.pos || place() >= Math.floor(this.pos + (this.wrapped ? this.onScreen : this.screen)) - 1) {
      this.following = false
      this.move(place() - (this.wrapped ? this.onScreen : this.screen) / 2)
    }
    await this.block(place()).coming
    this.draw()
    if (this.wrapped && place() >= Math.floor(this.pos) + this.onScreen) this.move(place() - 1) // those before it were long
    return this.rowAt(place())
  }

  draw() {
    const top = Math.floor(this.pos)
    const ends = this.wrapped && top + Math.ceil(this.screen) + 1 >= this.total
    const above = Math.min(top, ends ? Math.ceil(this.screen) : margin)
    const count = Math.min(this.total - top + above, Math.ceil(this.screen) + 1 + above + margin)
    const want = []
    for (let i = 0; i < count; i++) want.push(this.rowAt(top - above + i))
    const all = new Set(want)
    for (const el of [...this.rows.children]) if (!all.has(el)) el.remove()
    let at = this.rows.firstElementChild
    for (const el of want) {
      if (el === at) at = at.nextElementSibling
      else this.rows.insertBefore(el, at)
    }
    const part = this.pos - top
    const shift = this.wrapped ? this.measure(want, above, part, ends) : -(above + part) * rowHeight()
    if (shift === null) return // it was drawn anew
    this.rows.style.transform = `translateY(${Math.round(shift) + (this.wrapped && top ? 0 : air)}px)`
    this.pane.dispatchEvent(new CustomEvent('webchat:lines'))
  }

  /**
   * Where wrapped rows stand of which some are above the screen, in pixels; null: the end is
   * elsewhere than it was taken to be, and they were drawn again.
   */
  measure(rows, above, part, ends) {
    const heights = rows.map((el) => el.offsetHeight)
    this.heights = { from: Math.floor(this.pos) - above, list: heights }
    if (ends) {
      let room = this.viewHeight - air
      let n = 0
      for (const h of heights.toReversed()) {
        n += Math.min(1, room / h)
        room -= h
        if (room <= 0) break
      }
      const was = this.most
      this.ending = Math.max(1, n)
      if (Math.abs(this.most - was) > .01 && (this.pos > this.most || this.pos >= was - .01)) {
        this.move(this.most)
        return null
      }
    }
    let y = -part * (heights[above] ?? 0)
    const shift = y - heights.slice(0, above).reduce((sum, h) => sum + h, 0)
    this.onScreen = heights.slice(above).filter((h) => (y += h) <= this.viewHeight).length || 1
    return shift
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
