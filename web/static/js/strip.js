// The strip of tabs under a pointer: they are moved by dragging, and closed by the middle
// button.

import { close } from './desk.js'
import { desk, tabOf } from './tabs.js'

/** Moves a tab among the others. */
function drag(e) {
  const el = e.target.closest?.('.tab')
  if (!el || e.button !== 0 || e.target.closest('.x')) return
  const move = (m) => {
    const over = document.elementFromPoint(m.clientX, m.clientY)?.closest('.tab')
    if (!over || over === el || over.parentElement !== el.parentElement) return
    const a = desk.tabs.findIndex((t) => t.key === el.dataset.key)
    const b = desk.tabs.findIndex((t) => t.key === over.dataset.key)
    desk.tabs.splice(b, 0, ...desk.tabs.splice(a, 1))
    document.dispatchEvent(new Event('webchat:tabs'))
  }
  document.addEventListener('pointermove', move)
  document.addEventListener('pointerup', () => document.removeEventListener('pointermove', move), { once: true })
}

export function stripped() {
  const strip = document.getElementById('tabs')
  if (!strip) return
  strip.addEventListener('pointerdown', drag)
  strip.addEventListener('auxclick', (e) => {
    const el = e.target.closest('.tab')
    if (el && e.button === 1) close(tabOf(el.dataset.key))
  })
}
