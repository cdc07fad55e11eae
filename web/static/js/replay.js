// A replay: the two panes follow the film. The server draws each moment; one is asked for at a time,
// and the newest wish is the next. What was seen stands in panes of the Desk, with its views and find,
// but nothing is read again, run or handed over.

import { getText, path, post, readOnly, session } from './api.js'
import { visit } from './base.js'
import { run } from './cards.js'
import { besides } from './changesview.js'
import { failures } from './failure.js'
import { fragment } from './html.js'
import { folded } from './more.js'
import { begin, drop } from './pane.js'
import { paneMaps } from './panemap.js'
import { nextView, paneViews } from './paneviews.js'
import { pictures } from './picture.js'
import { selecting } from './select.js'
import { openShelf, shelves } from './shelf.js'
import { desk, front, records, tabWith, take } from './tabs.js'
import { failed } from './toast.js'

const panes = document.getElementById('panes')
const acts = new Set(['find', 'wrap', 'copy', 'goTo', 'zoom-in', 'zoom-out', 'zoom-fit', 'zoom-one']) // of a pane
/** The moment that is shown. */
const moment = {
  wanted: null, // {at, out}, until it is asked for
  busy: false,
  at: 1,
}

/** The left pane ends where the moment is. */
function ends() {
  const held = document.getElementById('held-scroll')
  held.scrollTop = held.scrollHeight
}

/** Folds the tabs from what had been shown until the moment; where each was read stays. */
function tabs() {
  const places = new Map(desk.tabs.map((t) => [t.key, t.place]))
  desk.tabs = []
  desk.known.clear()
  for (const r of records()) take(r).tab.place = places.get(r.key)
  for (const a of document.querySelectorAll('#saw .strip [data-out]')) if (tabWith(a.dataset.out)) tabWith(a.dataset.out).closed = false
}

/** Shows what was seen: a pane that stands there already keeps its rows, its view and its place. */
async function show(fresh) {
  const pane = fresh.querySelector('.pane')
  for (const el of panes.querySelectorAll(':scope > .nothing')) el.remove()
  for (const el of panes.children) el.hidden = true
  desk.front = null
  if (!pane) return panes.append(...fresh.querySelectorAll('.panes > .nothing'))
  const out = document.querySelector('#saw .strip [aria-current]').dataset.out
  if (!tabWith(out)) desk.tabs.push({ key: out, outs: [out], name: out })
  const tab = Object.assign(tabWith(out), { out, own: pane, closed: false })
  desk.front = tab.key
  await begin(tab, panes)
  for (const el of panes.children) el.hidden = el.dataset.key !== desk.front
}

/** Puts a moment into the page. The focus stays on what it was on, or goes to what took its place. */
async function put(fresh) {
  const focus = document.activeElement
  const { out, key } = focus?.dataset ?? {}
  const held = fresh.querySelector('#held')
  const saw = fresh.querySelector('#saw')
  document.getElementById('held').replaceWith(held)
  document.getElementById('outs').replaceWith(fresh.querySelector('#outs'))
  document.querySelector('#saw > .tabs').replaceWith(saw.querySelector('.tabs'))
  ends()
  tabs()
  document.dispatchEvent(new Event('webchat:frame')) // the shelf shows others
  await show(saw)
  if (focus?.isConnected && focus.checkVisibility()) return
  const same = focus?.id && document.getElementById(focus.id)
  const link = (out ?? key) && document.querySelector(`#saw .strip [data-out="${CSS.escape(out ?? key)}"]`)
  ;(same || link || document.getElementById(focus?.closest?.('#held') ? 'held' : 'saw')).focus({ preventScroll: true })
}

async function follow() {
  if (moment.busy) return
  moment.busy = true
  try {
    while (moment.wanted) {
      const { at, out } = moment.wanted
      moment.wanted = null
      const query = new URLSearchParams({ at, part: 'moment', ...(out && { out }) })
      const html = await getText(`/sessions/${session()}/replay?${query}`)
      const box = document.createElement('div')
      box.append(fragment(html))
      await put(box)
      history.replaceState(null, '', `?at=${at}`)
      document.body.dataset.at = at
    }
  } catch (err) {
    failed(err)
  }
  moment.busy = false
}

const want = (out) => { moment.wanted = { at: moment.at, out }; follow() }

function leave() {
  if (globalThis.navigation?.canGoBack) return history.back()
  visit(`/sessions/${session()}`)
}

/** A session with everything up to the end of the turn of this moment. */
const goOn = async (messageId) => visit(`/sessions/${(await post(path('/branch'), { messageId }, { always: true })).id}`)

const pane = () => panes.querySelector(':scope > .pane:not([hidden])')
const act = (name) => () => pane() && run(name, pane(), pane().querySelector(`[data-act=${name}]`))
const shelf = () => openShelf(document.querySelector('#saw .shelf-btn'))

const keys = {
  f: act('find'), w: act('wrap'), c: act('copy'), g: act('goTo'), t: shelf,
  v: () => pane() && nextView(pane()), u: () => pane() && besides(pane()),
  Escape: leave,
}

readOnly('A replay reads and runs nothing again.')
document.addEventListener('webchat:moment', (e) => { moment.at = e.detail; want() })
document.addEventListener('webchat:out', (e) => want(e.detail)) // a link in what was seen
document.addEventListener('webchat:stale', () => { const { key, out } = front() ?? {}; if (key) { drop(key); want(out) } }) // it ended meanwhile
document.addEventListener('click', (e) => {
  const el = e.target.closest?.('[data-out], [data-slip], #outs [data-output], [data-go], #leave, [data-act]')
  if (!el || e.ctrlKey || e.metaKey) return
  if (el.dataset.act === 'shelf') return shelf()
  if (el.dataset.act) return acts.has(el.dataset.act) && el.closest('.pane') && run(el.dataset.act, pane(), el)
  e.preventDefault()
  if (el.dataset.go) return goOn(el.dataset.go).catch(failed)
  if (el.id === 'leave') return leave()
  document.getElementById('shelf').hidePopover()
  want(el.dataset.out ?? el.dataset.slip ?? el.dataset.output)
})
addEventListener('keydown', (e) => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return
  if (e.target.matches?.('input:not([type=range], [type=radio]), textarea, select') || document.querySelector(':popover-open')) return
  e.preventDefault()
  keys[e.key]()
})
folded()
selecting()
pictures()
paneMaps()
paneViews()
failures()
shelves()

/** The film, which a long log has to be read for, then the panes; of a short one both are in the page. */
async function start() {
  const reading = document.getElementById('reading')
  if (reading) {
    const query = new URLSearchParams(location.search)
    query.set('part', 'film')
    try {
      reading.closest('header').replaceWith(fragment(await getText(`/sessions/${session()}/replay?${query}`)))
    } catch (err) {
      return reading.replaceChildren(err.message)
    }
  }
  moment.at = Number(document.getElementById('moment')?.value ?? 1)
  await import('./film.js')
  if (reading) {
    document.getElementById('moment').focus()
    return want()
  }
  ends()
  tabs()
  return show(document.getElementById('saw'))
}

start().catch(failed)
