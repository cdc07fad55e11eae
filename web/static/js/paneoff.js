// What stands on the Desk while the server does not answer: it says which lines are here.

import { clone } from './html.js'
import { viewerOf } from './viewer.js'

/** Whether the server answers. */
const server = {
  off: false,
}

/** The lines about the place one reads at that have come. */
function here(v) {
  const has = (place) => { for (const { rows } of v.blocks.values()) if (rows?.has(place)) return true; return false }
  let from = Math.floor(v.pos)
  let to = from
  if (!has(from)) return 'Nothing here was'
  while (from > 0 && has(from - 1)) from--
  while (to < v.total - 1 && has(to + 1)) to++
  if (from === 0 && to === v.total - 1) return 'All lines were'
  return `Lines ${v.lineAt(from).toLocaleString('en')}–${v.lineAt(to).toLocaleString('en')} were`
}

function paint(pane) {
  const old = pane.querySelector(':scope > .pane-off')
  if (!server.off || pane.dataset.state !== 'done') return old?.remove()
  const v = viewerOf(pane)
  const note = old ? { root: old, parts: { what: old.querySelector('[data-part=what]') } } : clone('tpl-off')
  note.parts.what.textContent = v && !v.code.hidden ? here(v) : 'What you see was'
  if (!old) pane.querySelector('.dhead').after(note.root)
}

export function panesOff() {
  document.addEventListener('webchat:state', (e) => {
    server.off = e.detail.state === 'off'
    for (const pane of document.querySelectorAll('.pane')) paint(pane)
  })
  document.addEventListener('webchat:pane', (e) => paint(e.target))
  document.addEventListener('click', (e) => { if (e.target.closest?.('[data-act=reconnect]')) dispatchEvent(new Event('online')) })
}
