// Chosen lines under a finger: a handle at each end, which is dragged, and a long press,
// which opens what can be done with them. A tap beside them ends the choice.

import { edit } from './editor.js'
import { longPress, rested } from './fingers.js'
import { ask, copyLines, linkLines, offer } from './give.js'
import { some } from './html.js'
import { popup } from './popup.js'
import { price } from './receipt.js'
import { choose, selection, unchoose } from './select.js'
import { failed } from './toast.js'
import { viewerOf } from './viewer.js'

const edge = 40 // pixels at the top and the bottom in which a handle makes the rows move
const rowsOf = (pane) => [...pane.querySelectorAll('.rows > .line')].filter((row) => row.querySelector('.ln[href]'))
const lineOf = (row) => Number(row.querySelector('.ln').getAttribute('href').slice(2))
/** The handle that is moved. */
const grip = {
  dragged: null, // {pane, end, y}
}

/** Puts the handles at the ends of what is chosen in a pane. */
function put(pane) {
  const view = pane.querySelector('.view')
  const s = selection(pane)
  if (!s) return view.querySelectorAll('.handle').forEach((el) => el.remove())
  const box = view.getBoundingClientRect()
  for (const end of ['from', 'to']) {
    let handle = view.querySelector(`.handle.${end}`)
    if (!handle) {
      handle = document.createElement('span')
      handle.className = `handle ${end}`
      handle.setAttribute('aria-hidden', 'true') // Shift with an arrow does the same
      handle.addEventListener('pointerdown', (e) => grab(e, pane, end))
      view.append(handle)
    }
    const row = view.querySelector(`.rows .ln[href="#L${s[end]}"]`)?.closest('.line').getBoundingClientRect()
    const y = row && (end === 'from' ? row.top : row.bottom) - box.top
    handle.hidden = y === undefined || y < 0 || y > box.height
    if (!handle.hidden) handle.style.top = `${y}px`
  }
}

function grab(e, pane, end) {
  e.preventDefault()
  e.currentTarget.setPointerCapture(e.pointerId)
  grip.dragged = { pane, end, y: e.clientY }
  requestAnimationFrame(drag)
}

/** The row whose edge is nearest to the finger is the end; at the edge of the view the rows move below it. */
function drag() {
  if (!grip.dragged) return
  const { pane, end, y } = grip.dragged
  const box = pane.querySelector('.view').getBoundingClientRect()
  const v = viewerOf(pane)
  if (y < box.top + edge) v.touch(v.pos - .3)
  else if (y > box.bottom - edge) v.touch(v.pos + .3)
  const away = (row) => Math.abs(row.getBoundingClientRect()[end === 'from' ? 'top' : 'bottom'] - y)
  const [row] = rowsOf(pane).map((row) => [row, away(row)]).reduce((a, b) => (b[1] < a[1] ? b : a), [null, Infinity])
  const s = selection(pane)
  if (row && s) {
    const n = end === 'from' ? Math.min(lineOf(row), s.to) : Math.max(lineOf(row), s.from)
    if (n !== s[end]) choose(pane, end === 'from' ? s.to : s.from, n, end === 'from' ? s.to : s.from)
  }
  requestAnimationFrame(drag)
}

/** What can be done with the chosen lines, at the finger. */
function menu(row, e) {
  const pane = row.closest('[data-pane]')
  const n = lineOf(row)
  const had = selection(pane)
  if (!had || n < had.from || n > had.to) choose(pane, n, n)
  offer(pane)
  const s = selection(pane)
  const lines = some(s.to - s.from + 1, 'line')
  const entries = [
    { label: `Copy ${lines}`, icon: 'copy', run: () => copyLines(pane).catch(failed) },
    { label: 'Copy the link', icon: 'copy', run: () => linkLines(pane).catch(failed) },
    { label: `Ask about ${lines} +${price(pane, s.to - s.from + 1).toLocaleString('en')}`, icon: 'hand', run: () => ask(pane) },
  ]
  if (document.body.dataset.editor) entries.splice(2, 0, { label: 'Open in editor', icon: 'open', run: () => edit(pane) })
  popup(pane.querySelector('.code'), entries, new DOMRect(e.clientX, e.clientY, 0, 0))
}

export function handling() {
  const desk = document.getElementById('desk')
  if (!desk) return
  document.addEventListener('webchat:chosen', (e) => { if (e.target.matches('[data-pane]')) put(e.target) })
  document.addEventListener('webchat:lines', (e) => { if (e.target.matches?.('[data-pane]')) put(e.target) }, true)
  document.addEventListener('pointermove', (e) => { if (grip.dragged) grip.dragged.y = e.clientY })
  for (const type of ['pointerup', 'pointercancel']) document.addEventListener(type, () => { grip.dragged = null })
  longPress(desk, (el) => el.closest('.pane[data-state=done] .rows > .line:has(> .ln[href])'), menu)
  desk.addEventListener('click', (e) => {
    const pane = e.pointerType === 'touch' && !rested() && !e.target.closest('.ln, .handle, button, a') && e.target.closest('.view')?.closest('[data-pane]')
    if (pane && selection(pane)) unchoose()
  })
}
