// The tabs of the Desk: one per path or command line, folded from the list of
// outputs that the server keeps. What of them is open, in front and where it was
// read is kept for this browser and session.

import { session } from './api.js'
import { kinds } from './tables.js'

/** The key of the tab in which something is seen before it is opened. */
export const lookKey = 'look'

const storeKey = () => `webchat.desk.${session()}`

/** What stands on the Desk. Tabs in their order: {key, name, base, icon, kind, outs, out, state, closed, pinned, news, bad, place}. */
export const desk = {
  tabs: [], front: null, beside: null, read: null, hidden: false, known: new Set(),
  touched: false, // the reader scrolled, chose or searched in front
  closed: [], // keys, the last one at the end
  brought: 0, // how often a tab was brought to the front; a tab keeps the number of its last time
}

export const tabOf = (key) => desk.tabs.find((t) => t.key === key)
export const front = () => tabOf(desk.front)
export const beside = () => tabOf(desk.beside)

/** The tab that keys act on: of two panes the one that had the focus last. */
export const reading = () => (desk.read === desk.beside && beside()) || front()
export const open = () => desk.tabs.filter((t) => !t.closed)

/** The tab that shows an output, whichever of its revisions. */
export const tabWith = (out) => desk.tabs.find((t) => t.outs.includes(out))

export const rowOf = (out) => document.querySelector(`#outs [data-output="${CSS.escape(out)}"]`)

/** The outputs of the session, oldest first. */
export const records = () => [...document.querySelectorAll('#outs [data-output]')].map((el) => ({
  out: el.dataset.output, key: `${el.dataset.kind} ${el.dataset.name}`, name: el.dataset.name, base: el.dataset.base, kind: el.dataset.kind,
  icon: el.dataset.icon, state: el.dataset.state, exit: el.dataset.exit ?? '', pinned: 'pinned' in el.dataset, reread: 'reread' in el.dataset,
}))

/** Puts what the list says of an output into its tab, which it makes if there is none. */
export function take(r) {
  let tab = tabOf(r.key)
  const fresh = !desk.known.has(r.out)
  if (!tab) {
    tab = { key: r.key, outs: [], out: r.out, closed: true }
    desk.tabs.push(tab)
  }
  const newest = tab.outs.at(-1)
  const kept = tab.pinned && !r.pinned // the tab is, so what it shows next is
  const had = tab.outs.includes(r.out) // a look that was kept
  if (fresh) desk.known.add(r.out)
  if (fresh && !had) {
    tab.outs.push(r.out)
    if (!newest || tab.out === newest) tab.out = r.out // who reads the newest goes on to the next
  }
  if (tab.out === r.out) Object.assign(tab, { name: r.name, base: r.base, kind: r.kind, icon: r.icon === 'gone' ? iconOf(r.kind, r.name) : r.icon, state: r.state, bad: r.exit, pinned: r.pinned })
  return { tab, fresh: fresh && !had, again: fresh && !had && Boolean(newest), pin: kept && fresh && Boolean(newest) }
}

const icons = { csv: 'table', tsv: 'table', json: 'tree', jsonl: 'tree', ndjson: 'tree', ...Object.fromEntries(['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg', 'ico', 'avif', 'bmp'].map((ext) => [ext, 'image'])) }

/** The mark of an output that is not there, or not yet. */
export const iconOf = (kind, name) => (kind === 'file' ? null : kinds.get(kind)?.icon) ?? icons[/\.(\w+)$/.exec(name.toLowerCase())?.[1]] ?? 'file'

/** What is kept of the Desk between two visits. */
export function save() {
  if (!session()) return
  const tabs = desk.tabs.filter((t) => !t.call && !t.look && !t.own).map(({ key, closed, place, out }) => ({ key, closed, place, out }))
  try { localStorage.setItem(storeKey(), JSON.stringify({ tabs, front: desk.front, beside: desk.beside, hidden: desk.hidden })) } catch { /* it is a comfort */ }
}

export function load() {
  try { return JSON.parse(localStorage.getItem(storeKey())) } catch { return null }
}

/** The nearest folder in which paths of the same last name differ distinguishes them. */
export function from(tab) {
  if (tab.kind === 'terminal') return ''
  const others = open().filter((t) => t !== tab && t.base === tab.base && t.kind !== 'terminal').map((t) => t.name.split('/').reverse())
  if (!others.length) return ''
  const parts = tab.name.split('/').reverse()
  const at = parts.findIndex((part, i) => i && others.every((o) => o[i] !== part))
  return at > 0 ? `${parts[at]}/${at > 1 ? '…/' : ''}` : parts.length > 1 ? `${parts[1]}/` : ''
}

const room = 24 // characters of a name that a tab shows

/** What a tab is called: of long names that begin alike, the part in which they differ. */
export function called(tab) {
  const { base } = tab
  const same = (other) => { let n = 0; while (n < base.length && base[n] === other[n]) n++; return n }
  const alike = Math.max(0, ...open().filter((t) => t !== tab && t.base !== base).map((t) => same(t.base)))
  if (alike < room / 2 || base.length <= room) return base
  const at = Math.max(base.lastIndexOf(' ', alike), base.lastIndexOf('/', alike - 1), alike - 8) + 1
  return `${base.slice(0, 8).trimEnd()}…${base.slice(at)}`
}
