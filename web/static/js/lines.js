// The lines of a card beyond those the server sent. A chunk holds the place of
// some hundred lines by its height and asks for them when it comes near the
// view; far from it, it gives them back. So a hundred thousand lines cost a few
// hundred elements, and no scroll waits for layout.

import { getText } from './api.js'
import { fragment } from './html.js'
import { failed } from './toast.js'
import { rowHeight, viewerOf } from './viewer.js'
import { keepLifted } from './veil.js'

const size = 200 // lines in a chunk
const keep = 24 // chunks that stay loaded in one card
const most = 400_000 // lines in one stretch: browsers cut elements taller than 16 M pixels
const bigFrom = 500 // lines; a card with more scrolls by itself

const watchers = new WeakMap() // card → {observer, loaded}

export const rowsOf = (output, from, to, signal) =>
  getText(`/api/outputs/${output}?format=html&lines=${from}-${to}`, { signal })

const number = (card, name) => Number(card.dataset[name] ?? 0)

/** The line of a card, once its chunk is loaded; null if it has none. */
export async function line(card, n) {
  if (viewerOf(card)) return viewerOf(card).line(n)
  const found = () => card.querySelector(`.ln[href="#L${n}"]`)?.closest('.line') ?? null
  if (found()) return found()
  if (!card.querySelector('.lines')) return null // it shows a table, or a tree
  if (n < number(card, 'first') || n > number(card, 'last')) return null
  if (!isOpen(card) || n < number(card, 'from') || n > number(card, 'to')) open(card, n)
  const chunk = [...card.querySelectorAll('.chunk')].find((c) => n >= c.dataset.from && n <= c.dataset.to)
  if (chunk) await load(card, chunk)
  return found()
}

/** Brings a row of a card into view. On the Desk the viewer has done that. */
export function reveal(card, row, block = 'center') {
  if (!viewerOf(card)) row?.scrollIntoView({ block })
}

export const isOpen = (card) => watchers.has(card)

/** Makes room for the numbers of lines up to one. */
function digits(card, last) {
  const { length } = String(last)
  card.classList.toggle('n7', length > 6)
  card.classList.toggle('n5', length > 4 && length < 7)
}

/** Shows all lines of a card, around line n if that is given. */
export function open(card, n) {
  close(card)
  const first = number(card, 'first')
  const last = number(card, 'last')
  const from = n ? Math.max(first, Math.min(n - most / 2, last - most + 1)) : first
  const to = Math.min(last, from + most - 1)
  const box = card.querySelector('.lines')
  const code = box.parentElement
  card.dataset.from = from
  card.dataset.to = to
  card.classList.toggle('big', to - from + 1 > bigFrom)
  digits(card, to)
  const chunks = []
  for (let a = from; a <= to; a += size) {
    const chunk = document.createElement('div')
    chunk.className = 'chunk'
    chunk.dataset.from = a
    chunk.dataset.to = Math.min(a + size - 1, to)
    chunk.style.height = `${(chunk.dataset.to - a + 1) * rowHeight()}px`
    chunks.push(chunk)
  }
  box.replaceChildren(...stretch(card, from - 1, first, -1), ...chunks, ...stretch(card, to + 1, last, 1))
  const root = card.classList.contains('big') ? code : card.closest('dialog') ?? document.getElementById('scroll')
  const loaded = new Map()
  const observer = new IntersectionObserver((seen) => {
    for (const e of seen) if (e.isIntersecting) load(card, e.target).catch(failed)
  }, { root, rootMargin: '600px' })
  watchers.set(card, { observer, loaded })
  for (const chunk of chunks) observer.observe(chunk)
}

/** A row that leads to the next stretch of a very long output. */
function stretch(card, at, end, way) {
  if (way > 0 ? at > end : at < end) return []
  const row = document.createElement('button')
  row.className = 'gap'
  row.type = 'button'
  const a = Math.min(at, end)
  const b = Math.max(at, end)
  const words = document.createElement('span')
  words.textContent = `Go on with lines ${a.toLocaleString('en')} to ${b.toLocaleString('en')}`
  row.append(document.createElement('span'), words)
  row.addEventListener('click', () => open(card, at))
  return [row]
}

/** Forgets the chunks; the caller puts other lines into the card. */
export function close(card) {
  const w = watchers.get(card)
  if (!w) return
  w.observer.disconnect()
  watchers.delete(card)
  card.classList.remove('big')
  digits(card, card.dataset.shown?.split('-')[1] ?? '')
}

async function load(card, chunk) {
  const w = watchers.get(card)
  if (!w || !chunk.isConnected) return
  const known = w.loaded.get(chunk)
  if (known) {
    w.loaded.delete(chunk)
    w.loaded.set(chunk, known) // the newest in use stands last
    return known
  }
  const coming = rowsOf(card.dataset.output, chunk.dataset.from, chunk.dataset.to).then((html) => {
    chunk.replaceChildren(fragment(html))
    for (const row of chunk.children) keepLifted(card.dataset.output, row, Number(row.querySelector('a.ln')?.getAttribute('href').slice(2)))
    if (card.querySelector('.code').classList.contains('wrap')) chunk.style.height = 'auto'
    card.dispatchEvent(new CustomEvent('webchat:lines'))
  })
  w.loaded.set(chunk, coming)
  coming.catch(() => w.loaded.delete(chunk))
  trim(w)
  return coming
}

/** Gives back the chunks unused for longest, but none that a selection touches. */
function trim(w) {
  const selection = getSelection()
  for (const chunk of w.loaded.keys()) {
    if (w.loaded.size <= keep) return
    if (selection.rangeCount && !selection.isCollapsed && selection.containsNode(chunk, true)) continue
    if (chunk.matches(':has(:focus)')) continue
    w.loaded.delete(chunk)
    const h = chunk.offsetHeight
    chunk.replaceChildren()
    chunk.style.height = `${h}px`
  }
}

/** Lets loaded chunks take the height that wrapped lines need, or the plain one. */
export function wrapped(card, on) {
  viewerOf(card)?.wrap(on)
  for (const chunk of card.querySelectorAll('.chunk')) {
    chunk.style.height = on && chunk.firstChild ? 'auto' : `${(chunk.dataset.to - chunk.dataset.from + 1) * rowHeight()}px`
  }
}
