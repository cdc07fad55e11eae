// The Desk: what only the user sees. Opening anything here sends nothing.

import { alone, isAlone } from './alone.js'
import { path, post } from './api.js'
import { address, follow, linesOf } from './deskaddress.js'
import { announce } from './announce.js'
import { holdKeys } from './hold.js'
import { arrival, begin, drop, paneOf, place } from './pane.js'
import { beside, desk, front, open, reading, rowOf, save, tabOf, tabWith } from './tabs.js'
import { drawTabs, slips } from './tabstrip.js'
import { some } from './html.js'
import { listed } from './shelf.js'
import { failed, toast } from './toast.js'
import { typing } from './typing.js'

const app = document.getElementById('app')
const strip = document.getElementById('tabs')
const panes = document.getElementById('panes')
const wide = matchMedia('(min-width: 1100px)')

/** Whether the Desk can be seen. */
export const isShown = () => (wide.matches ? app.matches('.has-desk:not(.no-desk)') : app.classList.contains('sheet'))

/** The element of a tab that letters are keys in. */
export const view = (tab = reading()) => paneOf(tab?.key)?.querySelector(':is(.code, .pic, .other, .nothing):not([hidden])') ?? strip.querySelector('.is-front [role=tab]')

/** Gives the focus to what is in front, at once or when it has come. */
export function enter() {
  const tab = reading()
  if (tab) tab.wanted = !paneOf(tab.key)
  if (tab?.wanted) holdKeys(arrival(tab)) // keys are for what comes
  ;(view() ?? document.getElementById('scroll')).focus({ preventScroll: true })
}

export function layout() {
  app.classList.toggle('has-desk', open().length > 0)
  app.classList.toggle('no-desk', desk.hidden)
  app.classList.toggle('is-split', Boolean(beside()) && wide.matches)
  if (!open().length) leave()
  document.getElementById('split')?.setAttribute('aria-pressed', String(Boolean(beside())))
}

/** In a narrow window the Desk lies over the conversation, or not. */
export function sheet(on) {
  if (wide.matches) on = false
  if (app.classList.contains('sheet') === on) return
  app.classList.toggle('sheet', on)
  slips(isShown())
  for (const el of document.querySelectorAll('#side, #bar, .main')) el.inert = on
  document.dispatchEvent(new Event('webchat:sheet'))
  const el = document.getElementById('desk')
  el.setAttribute('role', on ? 'dialog' : 'complementary')
  if (on) el.setAttribute('aria-modal', 'true')
  else el.removeAttribute('aria-modal')
  if (on) document.querySelector('.sheet-back').focus({ preventScroll: true })
  else (document.querySelector(`#turns [data-slip="${CSS.escape(front()?.out ?? '')}"]`) ?? [...question(front()?.out)?.querySelectorAll('[data-act=ways], [data-act=open-change]') ?? []].findLast((b) => b.checkVisibility()))?.focus({ preventScroll: true })
}

/** The card of an open question. */
export const question = (id) => document.querySelector(`#asks [data-request="${CSS.escape(id ?? '')}"]`)

/** The conversation stands beside the Desk again, or in place of it. */
export function leave() {
  sheet(false)
  alone(false)
}

/** Draws the tabs, and all that depends on which are open. */
export function draw() {
  drawTabs(strip)
  document.getElementById('shelf-n').textContent = some(listed(), 'output')
  layout()
  slips(isShown())
  save()
}

/** Shows the panes of what is in front, and only those. */
export function arrange() {
  const shown = [front(), beside()].filter(Boolean)
  for (const tab of shown) begin(tab, panes).catch(failed)
  const held = panes.contains(document.activeElement)
  for (const el of panes.children) el.hidden = !shown.some((t) => t.key === el.dataset.key)
  if (held && !document.activeElement.checkVisibility()) enter() // before the next key
  for (const tab of shown) {
    const el = paneOf(tab.key)
    el?.classList.toggle('is-second', tab !== shown[0])
  }
  const [first, second] = shown.map((tab) => paneOf(tab.key))
  if (first && second?.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING) panes.moveBefore?.(second, null) // it keeps its place
}

/** Brings a tab to the front, at lines if they are given. */
export function bring(tab, { lines, focus, other, byItself, peeked } = {}) {
  if (desk.front) remember(desk.front)
  tab.closed = false
  tab.news = false
  tab.brought = ++desk.brought
  if (other && wide.matches && innerWidth >= 1280 && desk.front && desk.front !== tab.key) desk.beside = tab.key
  else {
    if (desk.beside === tab.key) desk.beside = desk.front
    desk.front = tab.key
  }
  desk.read = null
  if (!peeked) desk.touched = false
  draw()
  if (!isShown() && !wide.matches) return
  arrange()
  if (!byItself) {
    address(tab, lines ?? linesOf(tab))
    looked(tab)
  }
  if (lines) place(tab, lines).catch(failed)
  if (!focus) return
  desk.read = tab.key
  enter()
}

export function remember(key) {
  const tab = tabOf(key)
  const pane = paneOf(key)
  if (tab && pane) tab.place = { ...tab.place, line: Number(pane.dataset.at ?? 0) || undefined }
}

/** Opens an output by its id, or what is known of a call that has none. */
export function openOutput(target, { lines, focus, other } = {}) {
  if (!strip) return document.dispatchEvent(new CustomEvent('webchat:out', { detail: target })) // a replay has its own tabs
  let tab = tabWith(target)
  if (!tab) {
    tab = { key: `call ${target}`, call: true, name: target, base: 'Not shown', icon: 'alert', kind: 'call', outs: [target], out: target, state: 'failed' }
    const slip = document.querySelector(`#turns [data-slip="${CSS.escape(target)}"]`)?.closest('[data-card]')
    const what = slip?.dataset.name ?? question(target)?.dataset.what
    if (what) Object.assign(tab, { name: what, base: what.split('/').pop() || what }) // until it has come
    desk.tabs.push(tab)
  }
  if (tab.out !== target) { // another revision of it
    tab.out = target
    tab.state = rowOf(target)?.dataset.state ?? tab.state
    drop(tab.key)
  }
  desk.hidden = false
  sheet(true)
  bring(tab, { lines, focus, other })
}

/** Brings a tab to the front whose pane is the page's own. */
export function openOwn(tab) {
  if (!desk.tabs.includes(tab)) desk.tabs.push(tab)
  desk.hidden = false
  sheet(true)
  bring(tab)
}

/** Draws the Desk again after its tabs were changed elsewhere. */
export function restoreTabs() {
  draw()
  arrange()
}

/** Closes a tab: its output stays on the shelf. */
export function close(tab = reading()) {
  if (!tab) return
  remember(tab.key)
  const list = open()
  const i = list.indexOf(tab)
  tab.closed = true
  tab.news = false
  desk.closed = [...desk.closed.filter((k) => k !== tab.key), tab.key]
  drop(tab.key)
  if (desk.beside === tab.key) desk.beside = null
  if (desk.front === tab.key) {
    const next = beside() ?? list[i + 1] ?? list[i - 1]
    desk.front = null
    desk.beside = null
    if (next) {
      return bring(next)
    }
    history.replaceState(null, '', location.pathname + location.search)
  }
  draw()
  arrange()
  follow()
}

export function reopen() {
  const key = desk.closed.pop()
  if (key && tabOf(key)) bring(tabOf(key))
}

const seen = new Set() // outputs whose opening was reported to the server

/** Notes in the log that the reader looked at what is in front. */
export function looked(tab) {
  if (!tab || tab.call || tab.look || tab.state !== 'done' || seen.has(tab.out)) return
  seen.add(tab.out)
  post(path(`/outputs/${tab.out}/open`)).catch(() => seen.delete(tab.out)) // the next look tries again
}

export function split() {
  if (beside()) desk.beside = null
  else {
    if (innerWidth < 1280) return toast('Two panes need a window 1,280 pixels wide. Make it wider')
    const rank = (t) => (t.state === 'gone' ? -1 : t.brought ?? 0)
    const [other] = open().filter((t) => t.key !== desk.front).sort((a, b) => rank(b) - rank(a)) // read last
    if (!other) return toast('Two panes need a second tab. Open another file first')
    desk.beside = other.key
  }
  draw()
  arrange()
  follow()
}

/** Hides the Desk, or shows it again. */
export function toggle() {
  if (isAlone()) return alone(false)
  const tab = front() ?? open().at(-1)
  if (!tab) return
  if (!wide.matches) {
    sheet(!app.classList.contains('sheet'))
    return isShown() && bring(tab)
  }
  desk.hidden = !desk.hidden
  draw()
  if (!desk.hidden) arrange()
}

/** To the tab by steps, or to the n-th. */
export function step(by, n) {
  const all = [...strip.children].map((el) => tabOf(el.dataset.key))
  const i = n === undefined ? all.indexOf(front()) + by : n
  if (all[i]) bring(all[i], { focus: true })
}
