// The views of an output beside its rows: preview, table, tree, bytes, names, changes.
// The server makes all of them; here they are chosen, shown and read on.

import { changes, revisions } from './changesview.js'
import { holdKeys } from './hold.js'
import { clone } from './html.js'
import { watchFailure } from './failure.js'
import { scope } from './give.js'
import { look } from './prose.js'
import { ask, rowsOf } from './reading.js'
import { views as known } from './tables.js'
import { source } from './source.js'
import { tabOf } from './tabs.js'
import { failed } from './toast.js'
import { viewerOf } from './viewer.js'

const near = 800 // pixels from the end from which on more is read
const table = (state) => import('./tableview.js').then((m) => state.root.isConnected && m.table(state))
const tree = (state) => import('./treeview.js').then((m) => state.root.isConnected && m.tree(state))
const folder = (state) => import('./folderview.js').then((m) => state.root.isConnected && m.folder(state))
const player = (state) => import('./player.js').then((m) => state.root.isConnected && m.player(state))
const special = { app, page, table, tree, diff: changes, list: folder, audio: player, video: player } // views with a bar or a head of their own

const states = new WeakMap() // what is drawn → its state
const offered = new WeakMap() // pane → until its views are known

const lined = (view) => known.get(view).lines

async function offer(pane) {
  if (pane.dataset.kind === 'terminal') watchFailure(pane)
  if (pane.dataset.state !== 'done' || !pane.dataset.output || pane.dataset.kind === 'image') return
  const coming = ask(pane, 'default', 1, 1)
  offered.set(pane, coming.catch(() => {}))
  const { head } = await coming
  const views = head.get('Webchat-Views').split(' ').filter((v) => known.get(v)?.label && (v !== 'diff' || revisions(pane).length > 1))
  pane.dataset.note = head.get('Webchat-Note') ?? ''
  const tab = tabOf(pane.dataset.key)
  const asked = pane.dataset.was && tab && tab.changed !== pane.dataset.output // a change was asked for: that view comes first, once
  if (asked) tab.changed = pane.dataset.output
  const kept = asked ? 'diff' : tab?.place?.view
  if (views.length > 1) {
    const { root, parts } = clone('tpl-views')
    parts.one.remove()
    for (const view of views) {
      const button = parts.one.cloneNode(true)
      button.textContent = known.get(view).label
      button.dataset.view = view
      root.append(button)
    }
    pane.querySelector('.dhead > .sp').after(root)
  }
  await choose(pane, views.includes(kept) ? kept : views[0])
}

async function choose(pane, view) {
  for (const b of pane.querySelectorAll('[data-view]')) b.setAttribute('aria-checked', String(b.dataset.view === view))
  const box = pane.querySelector('.view')
  const own = lined(view) && pane.querySelector('.tall')
  if (lined(view) && !own) return // nothing was printed, which stands there
  const focused = box.contains(document.activeElement) // letters stay keys in the next view
  for (const el of box.querySelectorAll(':scope > :is(.code, .map)')) el.toggleAttribute('hidden', !own && !(view === 'diff' && el.matches('.map'))) // also of what is drawn as SVG
  box.querySelector('.other')?.remove()
  pane.querySelector('.vbar:not(.timeline)')?.remove()
  for (const el of pane.querySelectorAll('.timeline')) el.hidden = !own
  delete pane.dataset.where
  scope(pane, null)
  const tab = tabOf(pane.dataset.key)
  if (tab) tab.place = { ...tab.place, view }
  if (own) {
    remark(pane)
    viewerOf(pane).fit()
    if (focused) viewerOf(pane).code.focus({ preventScroll: true })
    return
  }
  const { root } = clone('tpl-other')
  root.dataset.shows = view
  root.setAttribute('aria-label', `${known.get(view).label} of ${pane.dataset.base}`)
  box.prepend(root)
  const into = view === 'tree' ? root.querySelector('ul') : root
  if (view !== 'tree') root.querySelector('ul').remove()
  const classes = known.get(view).class?.split(' ') ?? []
  const prose = classes.includes('said')
  root.classList.add(...classes)
  if (view === 'hex') remark(pane)
  const state = { pane, root, into, view, extra: '', of: pane.dataset.output, total: 0, to: 0, load: () => load(state) }
  states.set(root, state)
  await special[view]?.(state)
  if (!root.isConnected) return
  if (prose) { // its links are followed from the first moment on
    const live = () => import('./document.js').then((m) => m.reading(pane, root, readOn)).catch(failed)
    state.load = () => live().then(() => load(state))
    state.loaded = () => look(root).catch(() => { /* they stay text */ }).finally(live)
  }
  root.addEventListener('scroll', () => more(state), { passive: true })
  if (focused) root.focus({ preventScroll: true })
  await state.load()
}

/** Says why there is no better view, if there could be one. */
function remark(pane) {
  if (pane.dataset.note) note(pane, pane.dataset.note)
}

function note(pane, words) {
  const { root, parts } = clone('tpl-note')
  parts.note.textContent = words
  pane.querySelector('.view').before(root)
}

/** What a page of an MCP server draws. Where it does not, the next view is shown below why. */
function app(state) {
  const without = async (why) => {
    const { pane, root } = state
    if (!root.isConnected) return
    await choose(pane, pane.querySelector('[data-view=app] ~ [data-view]').dataset.view)
    const tab = tabOf(pane.dataset.key)
    if (tab) tab.place = { ...tab.place, view: 'app' } // the next begins with its page again
    note(pane, why)
  }
  state.load = async () => (await import('./appview.js')).app(state, (why) => without(why).catch(failed))
}

/** An HTML file as a page: a frame loads it, which runs nothing. */
function page(state) {
  state.load = async () => state.root.replaceChildren(...(await import('./frames.js')).page(state.of, state.pane.dataset.base))
}

/** Shows the first rows; what was there goes. */
async function load(state) {
  const turn = state.turn = {}
  const first = await ask(state.pane, state.view, 1, rowsOf(state.view), state)
  if (state.turn !== turn) return // something else was asked for meanwhile
  state.into.replaceChildren(first.html)
  Object.assign(state, first)
  state.root.dataset.extra = state.extra // for who asks for one of its rows
  state.loaded?.()
}

async function next(state) {
  const { root, turn } = state
  const piece = await ask(state.pane, state.view, state.to + 1, rowsOf(state.view), state)
  if (state.turn !== turn) return
  const body = root.querySelector('tbody')
  if (body) body.append(...piece.html.querySelectorAll('tbody > tr'))
  else state.into.append(piece.html)
  state.to = piece.to
  state.loaded?.()
}

/** Reads the next piece of what a view shows; false: there is none. */
async function readOn(root) {
  const state = states.get(root)
  if (!state || state.view === 'tree' || state.to >= state.total) return false
  await (state.busy ??= next(state).finally(() => { state.busy = null }))
  return true
}

/** Reads on where the end comes near. */
function more({ root, busy }) {
  if (!busy && root.scrollHeight - root.scrollTop - root.clientHeight <= near) readOn(root).catch(failed)
}

function click(e) {
  const a = e.target.closest?.('a.at-src')
  if (a) {
    e.preventDefault()
    return source(a, e)
  }
  const li = e.target.closest?.('.other [role=tree] li')
  if (li && !e.target.closest('a')) return import('./treeview.js').then((m) => m.fold(li, li.closest('[data-card]')))
  const view = e.target.closest?.('[data-pane] [data-view]')
  return view && choose(view.closest('[data-pane]'), view.dataset.view)
}

export function paneViews() {
  document.addEventListener('webchat:pane', (e) => offer(e.target).catch((err) => { if (err.status !== 404) failed(err) }))
  document.addEventListener('click', (e) => Promise.resolve(click(e)).catch(failed))
}

/** To the view after the one that a pane shows. */
export function nextView(pane) {
  holdKeys(Promise.resolve(offered.get(pane)).then(() => {
    const all = [...pane.querySelectorAll('[data-view]')]
    const now = all.findIndex((b) => b.getAttribute('aria-checked') === 'true')
    if (all.length) choose(pane, all[(now + 1) % all.length].dataset.view).catch(failed)
  }))
}
