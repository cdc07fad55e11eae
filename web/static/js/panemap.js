// The scrollbar of a pane, which is a map of it: the part on the screen, hits,
// selection, what goes to the agent, what changed. Of changes it has each, and the comments on them.

import { getJSON } from './api.js'
import { selection } from './select.js'
import { viewerOf } from './viewer.js'

const least = 24 // pixels of the thumb
const parts = 195 // of a long output, for each of which errors and warnings are counted
const long = 5000 // lines
const found = new WeakMap() // pane → numbers of lines
const dense = new WeakMap() // pane → what the server counted; null: it is asked

function rect(name, y, height, x = 0, width = 14) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  for (const [key, value] of Object.entries({ class: name, x, y, width, height })) el.setAttribute(key, value)
  return el
}

/** "3-5 9" as pairs. */
const pairs = (text) => (text ?? '').split(/[ ,]/).filter(Boolean).map((part) => { const [a, b] = part.split('-').map(Number); return [a, b ?? a] })

/** Asks once where the errors and warnings of a long output are. */
async function count(pane) {
  if (dense.has(pane) || pane.dataset.state !== 'done') return
  dense.set(pane, null)
  try {
    dense.set(pane, await getJSON(`/api/outputs/${pane.dataset.output}?density=${parts}`))
    soon(pane)
  } catch { /* the map is without it */ }
}

/** Errors and warnings as bars, the wider the more there are in a part than is usual in this output. */
function bars(pane, tall) {
  const d = dense.get(pane)
  if (!d) return []
  const warnings = d.warnings ?? []
  const errors = d.errors ?? []
  const top = Math.max(...warnings, ...errors, 1)
  const of = (list, name) => {
    const usual = list.toSorted((a, b) => a - b)[parts >> 1] ?? 0
    return list.flatMap((n, i) => (n ? [{ name, i, width: 3 + 23 * Math.max(0, n - usual) / top }] : []))
  }
  return [...of(warnings, 'wa'), ...of(errors, 'er')].toSorted((a, b) => b.width - a.width) // no bar hides another
    .map(({ name, i, width }) => rect(name, i * tall / parts, Math.max(2, tall / parts - 1), 32 - width, width))
}

/** What of a pane shows changes and scrolls by itself: its view of them, or a review. */
const changesIn = (pane) => pane.querySelector(':scope > .view > .diff')

/** What a map is of: a viewer, whose unit are rows, or a box of changes, whose unit are pixels. */
function scrolled(pane) {
  const box = changesIn(pane)
  if (!box) return viewerOf(pane)
  const { scrollTop: pos, clientHeight: screen, scrollHeight: total } = box
  return { changed: box, pos, screen, total, most: Math.max(0, total - screen), touch(to) { box.scrollTop = to } }
}

const drawn = new WeakMap() // box of changes → its marks, and what they were made for

/** Where changes and comments stand in a box, which only scrolling leaves where they are. */
function changes(box, tall, total) {
  const rows = [...box.querySelectorAll('.add, .del, .remark')]
  const key = `${rows.length} ${total} ${tall}`
  if (drawn.get(box)?.key !== key) {
    const from = box.getBoundingClientRect().top - box.scrollTop
    const seen = new Set()
    const marks = rows.map((row) => [row.matches('.remark') ? 'giv' : row.matches('.del') ? 'er' : 'fr', Math.round((row.getBoundingClientRect().top - from) * tall / total)])
      .filter(([name, y]) => !seen.has(`${name} ${y}`) && seen.add(`${name} ${y}`))
    drawn.set(box, { key, marks })
  }
  return drawn.get(box).marks.map(([name, y]) => rect(name, y, 2, 4, 7))
}

/** Draws the map of a pane once it can be seen, that of a sheet that was closed too. */
const seen = new ResizeObserver((all) => {
  for (const { target } of all) {
    if (!target.clientHeight) continue
    seen.unobserve(target)
    soon(target.closest('[data-pane]'))
  }
})

function draw(pane) {
  const map = pane.querySelector(':scope > .view > .map')
  const v = scrolled(pane)
  if (!map || !v || (pane.hidden && !v.box)) return // rows that are seen again say so
  const tall = map.clientHeight
  if (!tall) return seen.observe(map)
  const screen = v.screen || 0 // of an output without a line yet there is no measure
  const unit = tall / Math.max((v.only ? v.last - v.first + 1 : v.total) || 0, screen, 1) // of a line
  const thumb = Math.min(tall, Math.max(least, screen * tall / Math.max(v.total || 0, screen, 1)))
  const y = v.most ? (v.pos || 0) / v.most * (tall - thumb) : 0
  const there = v.most ? [rect('thumb', y, thumb, 0, 32)] : []
  if (v.changed) {
    map.classList.remove('wide')
    map.setAttribute('viewBox', `0 0 14 ${tall}`)
    map.replaceChildren(...there, ...changes(v.changed, tall, Math.max(v.total, 1)))
    map.setAttribute('aria-valuemax', Math.max(1, v.most))
    map.setAttribute('aria-valuenow', Math.max(1, Math.round(v.pos)))
    return map.setAttribute('aria-valuetext', `${v.most ? Math.round(100 * v.pos / v.most) : 100} percent`)
  }
  const at = (n) => (n - v.first) * unit
  const marks = (list, name, x, width) => {
    const seen = new Set()
    return list.map(([a, b]) => [Math.round(at(a)), Math.max(2, (b - a + 1) * unit)]).filter(([top]) => !seen.has(top) && seen.add(top)).map(([top, h]) => rect(name, top, h, x, width))
  }
  const s = selection(pane)
  const wide = v.total > long || 'reading' in pane.dataset
  map.classList.toggle('wide', wide)
  if (wide) count(pane)
  map.setAttribute('viewBox', `0 0 ${wide ? 32 : 14} ${tall}`)
  map.replaceChildren(
    ...(wide ? bars(pane, tall) : []),
    ...there,
    ...marks(pairs(pane.dataset.changed), 'giv', 0, 2),
    ...marks(pairs(pane.dataset.fresh), 'fr', 4, 7),
    ...marks(pairs(pane.querySelector(':scope > .failure')?.dataset.lines), 'er', 4, 7),
    ...marks((found.get(pane) ?? []).map((n) => [n, n]), 'h', 4, 7),
    ...marks(pairs(pane.dataset.given), 'giv', 2, 3),
    ...(s ? [rect('s', at(s.from), Math.max(2, (s.to - s.from + 1) * unit), 0, 3)] : []))
  const { from } = v.seen
  map.setAttribute('aria-valuemax', Math.max(1, v.last))
  map.setAttribute('aria-valuenow', from)
  map.setAttribute('aria-valuetext', `line ${from.toLocaleString('en')} of ${v.last.toLocaleString('en')}`)
}

const waiting = new Set()

function soon(pane) {
  if (!pane?.matches?.('[data-pane]')) return
  if (!waiting.size) requestAnimationFrame(() => { waiting.forEach(draw); waiting.clear() })
  waiting.add(pane)
}

function drag(e) {
  const map = e.target.closest?.('.pane .map')
  const pane = map?.closest('[data-pane]')
  const v = pane && scrolled(pane)
  if (!v || e.button !== 0) return
  e.preventDefault()
  const { top, height } = map.getBoundingClientRect()
  const thumb = Math.min(height, Math.max(least, v.screen * height / Math.max(v.total, v.screen)))
  const y = v.most ? v.pos / v.most * (height - thumb) : 0
  const grab = e.clientY - top >= y && e.clientY - top <= y + thumb ? e.clientY - top - y : thumb / 2
  const go = (m) => v.touch((m.clientY - top - grab) / Math.max(1, height - thumb) * v.most)
  map.setPointerCapture(e.pointerId)
  map.addEventListener('pointermove', go)
  map.addEventListener('pointerup', () => map.removeEventListener('pointermove', go), { once: true })
  go(e)
}

export function paneMaps() {
  document.addEventListener('pointerdown', drag)
  document.addEventListener('webchat:lines', (e) => soon(e.target), true)
  document.addEventListener('webchat:pane', (e) => soon(e.target))
  document.addEventListener('scroll', (e) => { if (e.target.matches?.('.view > .diff')) soon(e.target.closest('[data-pane]')) }, { capture: true, passive: true })
  addEventListener('resize', () => document.querySelectorAll('.pane:has(> .view > .diff)').forEach(soon))
  document.addEventListener('webchat:chosen', (e) => soon(e.target))
  document.addEventListener('webchat:given', (e) => soon(e.target))
  document.addEventListener('webchat:failure', (e) => soon(e.target))
  document.addEventListener('webchat:found', (e) => {
    found.set(e.target, e.detail.lines)
    soon(e.target)
  })
}
