// The address of what stands on the Desk: #out/ID:62-72&with=ID names an output, lines
// of it, and what is beside it.

import { paneOf } from './pane.js'
import { selection } from './select.js'
import { beside, front } from './tabs.js'

/** What the page's address names: {out, lines, with}; null: nothing of the Desk. */
export function addressed() {
  const m = /^#out\/([^:&]+)(?::(\d+(?:-\d+)?))?(?:&with=([^&]+))?/.exec(decodeURIComponent(location.hash))
  return m && { out: m[1], lines: m[2], with: m[3] }
}

/** The lines chosen in a tab's pane, as an address names them. */
export function linesOf(tab) {
  const s = paneOf(tab.key) && selection(paneOf(tab.key))
  return s && (s.to > s.from ? `${s.from}-${s.to}` : s.from)
}

/** Writes the address of a tab, its lines and what is beside it. */
export function address(tab, lines) {
  const other = [front(), beside()].find((t) => t && t !== tab && !t.own)
  if (tab.own) return history.replaceState(null, '', location.pathname + location.search)
  history.replaceState(null, '', `#out/${tab.out}${lines ? `:${lines}` : ''}${beside() && other ? `&with=${other.out}` : ''}`)
}

/** Has the address name what is beside now, if it names the Desk. */
export function follow() {
  if (front() && location.hash.startsWith('#out/')) address(front(), linesOf(front()))
}
