// The minimap of a card that scrolls by itself: where the view is, the hits of
// a search and the chosen lines. It holds marks, never a second copy of the text.

import { clone } from './html.js'
import { selection } from './select.js'

const tall = 1000 // units of the drawing, whatever its height in pixels
const mark = 4 // least height of a mark
const found = new WeakMap() // card → numbers of lines
const waiting = new Set()
const sizes = new ResizeObserver((entries) => entries.forEach((e) => soon(e.target.closest('.card'))))

function soon(card) {
  if (!card) return
  if (!waiting.size) requestAnimationFrame(() => { waiting.forEach(draw); waiting.clear() })
  waiting.add(card)
}

function rect(name, y, height) {
  const el = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  const [x, width] = { v: [0, 14], h: [4, 7], s: [1, 2] }[name]
  for (const [key, value] of Object.entries({ class: name, x, y, width, height: Math.max(height, mark) })) el.setAttribute(key, value)
  return el
}

/** The map of a card, which is there while the card scrolls by itself. */
function mapOf(card) {
  const box = card?.querySelector('.with-map')
  const old = box?.querySelector('.map')
  if (!box || !card.classList.contains('big')) {
    old?.remove()
    return null
  }
  if (old) return old
  const { root } = clone('tpl-map')
  root.setAttribute('viewBox', `0 0 14 ${tall}`)
  root.addEventListener('pointerdown', (e) => {
    const code = box.querySelector('.code')
    const { top, height } = root.getBoundingClientRect()
    code.scrollTop = code.scrollHeight * (e.clientY - top) / height - code.clientHeight / 2
  })
  box.append(root)
  sizes.observe(box.querySelector('.code'))
  return root
}

function draw(card) {
  const map = mapOf(card)
  if (!map) return
  const code = card.querySelector('.code')
  if (!code.scrollHeight) return // it stands on the Desk now; sizes reports when it is here again
  const from = Number(card.dataset.from)
  const unit = tall / (Number(card.dataset.to) - from + 1) // of a line
  const at = new Set((found.get(card) ?? []).map((n) => Math.round((n - from) * unit / mark) * mark))
  const s = selection(card)
  map.replaceChildren(
    rect('v', tall * code.scrollTop / code.scrollHeight, tall * code.clientHeight / code.scrollHeight),
    ...[...at].filter((y) => y >= 0 && y <= tall).map((y) => rect('h', y, mark)),
    ...(s ? [rect('s', (s.from - from) * unit, (s.to - s.from + 1) * unit)] : []))
}

export function maps() {
  document.addEventListener('scroll', (e) => soon(e.target.closest?.('.card.big')), { capture: true, passive: true })
  document.addEventListener('webchat:lines', (e) => soon(e.target), true)
  document.addEventListener('webchat:chosen', (e) => soon(e.target))
  document.addEventListener('webchat:found', (e) => {
    found.set(e.target, e.detail.lines)
    soon(e.target)
  })
}
