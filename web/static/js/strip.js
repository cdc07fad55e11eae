// The strip of tabs: they are moved by dragging, and closed by the middle button; those
// that were not read for longest go to the shelf where there is no room for all.

import { close } from './desk.js'
import { desk, open, tabOf } from './tabs.js'

const wide = matchMedia('(min-width: 1100px)') // else one tab is seen

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

/** Takes a tab from a strip that is too full. What is in front, beside it, pinned, looked at or running stays. */
function fit(strip) {
  const last = strip.lastElementChild
  if (!wide.matches || !last?.checkVisibility() || last.getBoundingClientRect().right <= strip.getBoundingClientRect().right + 1) return
  const stays = (t) => t.key === desk.front || t.key === desk.beside || t.pinned || t.look || t.state === 'running'
  const [tab] = open().filter((t) => !stays(t)).sort((a, b) => (a.brought ?? 0) - (b.brought ?? 0))
  if (tab) close(tab)
}

export function stripped() {
  const strip = document.getElementById('tabs')
  if (!strip) return
  // Observing begins with a call behind the next layout, where asking for sizes costs none.
  const sizes = new ResizeObserver(() => fit(strip))
  const look = () => { sizes.disconnect(); sizes.observe(strip) }
  new MutationObserver(look).observe(strip, { childList: true })
  look()
  strip.addEventListener('pointerdown', drag)
  strip.addEventListener('auxclick', (e) => {
    const el = e.target.closest('.tab')
    if (el && e.button === 1) close(tabOf(el.dataset.key))
  })
}
