// A pane of the Desk: the server draws its head and foot, the viewer its rows.

import { getText, path, post, session } from './api.js'
import { clone, fragment, plain, some } from './html.js'
import { choose, selection } from './select.js'
import { desk } from './tabs.js'
import { typing } from './typing.js'
import { Viewer, viewerOf } from './viewer.js'

const most = 8 // panes that stay in the page
const wait = 200 // milliseconds between two looks at what runs
const firstRows = 400 // lines of which those that come with a pane are enough
const soonRead = 200 // milliseconds in which a file is read without a button to stop it
const pause = 10_000 // milliseconds between two times that a file is read again by itself
const patience = 30_000 // milliseconds that rows may take until they are asked for again
const narrow = matchMedia('(max-width: 839px)') // lines are wrapped there at first
const panes = new Map() // key of the tab → its element

export const paneOf = (key) => panes.get(key)

const left = new Map() // key → {out, from, to}: the lines that were chosen in a pane that is not in the page now

/** Forgets a pane, but for the lines that were chosen in it. */
export function drop(key) {
  const pane = panes.get(key)
  if (!pane) return
  if (selection(pane)) left.set(key, { out: pane.dataset.target, ...selection(pane) })
  viewerOf(pane)?.end()
  pane.remove()
  panes.delete(key)
}

/** Calls a pane by another key: its tab has become another one. */
export function rekey(old, now) {
  const pane = panes.get(old)
  if (!pane) return
  panes.delete(old)
  pane.dataset.key = now
  panes.set(now, pane)
}

const asked = new Map() // key → the pane that is under way

/** Puts the pane of a tab into the page, if it is not there. */
export async function begin(tab, into) {
  const old = panes.get(tab.key)
  if (old?.dataset.target === tab.out && !rereads(tab, old, into)) {
    panes.delete(tab.key)
    panes.set(tab.key, old) // the newest in use stands last
    viewerOf(old)?.fit()
    return old
  }
  if (asked.get(tab.key)?.out === tab.out) return asked.get(tab.key).coming
  const drawn = draw(tab, into)
  asked.set(tab.key, { out: tab.out, coming: drawn })
  try { return await drawn } finally { asked.delete(tab.key) }
}

/** Whether the pane of what a tab shows now is under way. */
export const coming = (tab) => asked.get(tab.key)?.out === tab.out

/** Is over when the pane of a tab that is under way has come, or cannot. */
export const arrival = (tab) => Promise.resolve(asked.get(tab.key)?.coming)

/** Draws a pane again: what it shows has changed. The place in it stays. */
export function refresh(tab) {
  const into = panes.get(tab.key)?.parentElement
  return into ? draw(tab, into) : Promise.resolve(null)
}

async function draw(tab, into, again = false) {
  const { out } = tab
  let pane
  try {
    if (tab.secret) throw null // only its name is shown
    const rows = panes.has(tab.key) || tab.place?.line > firstRows || tab.lines ? '' : '?rows=first' // else its reader is elsewhere in it
    pane = tab.own ?? fragment(await getText(`/sessions/${session()}/desk/${encodeURIComponent(out)}${rows}`)).firstElementChild
  } catch (err) {
    pane = away(tab, err)
  }
  if (tab.closed || tab.out !== out) return null
  if (rereads(tab, pane, into)) {
    tab.reread = Date.now()
    const failure = await reread(tab, out)
    if (!failure) return draw(tab, into)
    pane.querySelector('.nothing p:last-of-type').textContent = failure
  }
  if (tab.call && pane.dataset.base) { // of a turn that is not in the page: the server knew
    Object.assign(tab, { name: pane.dataset.name, base: pane.dataset.base, kind: pane.dataset.kind, state: pane.dataset.state === 'expired' ? 'gone' : pane.dataset.state })
    if (tab.state !== 'failed') tab.icon = pane.dataset.app ? 'app' : { terminal: 'term', image: 'image', hex: 'hex', change: 'diff' }[tab.kind] ?? 'file'
    document.dispatchEvent(new Event('webchat:tabs'))
  }
  const old = panes.get(tab.key)
  const was = old && viewerOf(old)
  const kept = was ? { pos: was.pos, wrap: was.wrapped, following: was.following, find: old.querySelector('.find'), before: old.dataset.output === pane.dataset.output ? was : null } : null
  const chosen = old ? selection(old) : left.get(tab.key)?.out === out && left.get(tab.key)
  left.delete(tab.key)
  pane.dataset.key = tab.key
  pane.dataset.target = out
  pane.hidden = tab.key !== desk.front && tab.key !== desk.beside // another may have come to the front meanwhile
  pane.classList.toggle('is-second', tab.key === desk.beside)
  const focused = old?.contains(document.activeElement)
  const field = old?.querySelector('.find')?.contains(document.activeElement) ? document.activeElement : null // it moves into the new pane
  if (old) {
    was?.end()
    old.replaceWith(pane)
  } else if (tab.key === desk.front) into.prepend(pane) // whichever of two comes first, the keyboard finds the one in front before the other
  else into.append(pane)
  panes.set(tab.key, pane)
  trim()
  if (pane.querySelector('.tall')) rows(pane, tab, kept)
  if (chosen && viewerOf(pane) && !tab.lines) choose(pane, chosen.from, chosen.to)
  const pin = pane.querySelector('[data-pin]')
  if (pin) pin.hidden = !tab.pinned
  if (field?.isConnected) field.focus({ preventScroll: true })
  else if (focused || (tab.wanted && !typing(document.activeElement))) pane.querySelector('.code, .pic, .nothing')?.focus({ preventScroll: true })
  tab.wanted = false
  pane.dispatchEvent(new CustomEvent('webchat:pane', { bubbles: true }))
  const ended = pane.dataset.state === 'running' && tab.state === 'done' // while this was under way
  return ended && !again && pane.isConnected ? draw(tab, pane.parentElement, true) : pane
}

/** Whether a file is read again: somebody sees its pane, and it was not read just now, as where two have no room beside each other. */
const rereads = (tab, pane, into) => pane.dataset.state === 'expired' && 'reread' in pane.dataset && !document.hidden &&
  into.checkVisibility() && !(Date.now() - tab.reread < pause)

/** Reads a file again whose output is gone, or that has changed; why it could not, if it could not. */
export async function reread(tab, out) {
  try {
    const shown = await post(path(`/outputs/${encodeURIComponent(out)}/reread`))
    if (!shown.output) return 'The file may hold secrets, so it is not reloaded automatically.'
    if (tab.out === out) tab.out = shown.output.id
    if (!tab.outs.includes(shown.output.id)) tab.outs.push(shown.output.id)
    return ''
  } catch (err) {
    return err.message
  }
}

function rows(pane, tab, kept) {
  const v = new Viewer(pane, kept?.before)
  if (kept?.wrap ?? tab.place?.wrap ?? narrow.matches) {
    v.wrap(true)
    pane.querySelector('[data-act=wrap]')?.setAttribute('aria-pressed', 'true')
  }
  const top = pane.dataset.kind !== 'terminal' || 'search' in pane.dataset // it is read from there
  v.following = v.running && (kept ? kept.following : !top)
  if (kept) {
    v.move(kept.following ? v.most : kept.pos)
    if (kept.find) pane.querySelector('.dhead').after(kept.find)
  } else if (tab.place?.line && !tab.place.follows) v.move(v.place(tab.place.line))
  else if (!top) v.move(v.most) // a command's end says how it went
  if (v.running) watch(pane)
  pane.addEventListener('webchat:lines', () => {
    pane.dataset.at = v.seen.from
    tab.place = { ...tab.place, line: v.seen.from, wrap: v.wrapped, follows: v.following }
    at(pane, v)
  })
  pane.addEventListener('webchat:touched', () => { tab.place = { ...tab.place, read: pane.dataset.output } })
  at(pane, v)
  if (tab.lines) place(tab, tab.lines)
}

/** Says in the foot which lines are on the screen. */
function at(pane, v) {
  const words = pane.querySelector('.dfoot [data-at]')
  if (!words || v.running || 'said' in words.dataset) return
  if (v.code.hidden) { // another view is shown
    words.textContent = pane.dataset.where ?? ''
    return
  }
  const { from, to } = v.whole
  const said = (n) => n.toLocaleString('en')
  if (v.only) words.textContent = v.total ? `Matches ${said(from + 1)}–${said(to + 1)} of ${said(v.total)}` : ''
  else words.textContent = v.total > v.screen ? `Lines ${said(Math.min(v.last, v.lineAt(from)))}–${said(Math.min(v.last, v.lineAt(to)))} of ${said(v.last)}` : ''
}

/** Goes to lines in a tab, once it has come. */
export async function place(tab, lines) {
  tab.lines = lines
  const pane = asked.get(tab.key) ? await asked.get(tab.key).coming : panes.get(tab.key)
  const v = pane && viewerOf(pane)
  const [from, to] = lines.split('-').map(Number)
  if (!v || (v.running && v.last < from)) return // it is drawn again when it is whole
  tab.lines = ''
  tab.place = { ...tab.place, view: 'source' } // should its views not be known yet
  await v.line(Math.min(v.last, from))
  if (!pane.isConnected && panes.get(tab.key)) return place(tab, lines) // drawn again meanwhile
  choose(pane, from, Math.min(v.last, to ?? from))
}

/** Follows a command that runs, or a file that is read: its card in the conversation hears of its progress. */
function watch(pane) {
  const turns = document.getElementById('turns')
  const v = viewerOf(pane)
  const words = pane.querySelector('.dfoot [data-at]')
  let soon = 0
  let late = 0 // when the rows that are under way count as lost
  const look = () => {
    soon = 0
    if (!pane.isConnected || pane.dataset.state !== 'running') return seen.disconnect()
    const card = turns.querySelector(`[data-card][data-output="${CSS.escape(pane.dataset.output)}"]`)
    if (card?.dataset.state !== 'running') return // the pane is drawn again
    if (v.behind && Date.now() < (late ||= Date.now() + patience)) { // over a slow line it would never catch up
      soon = setTimeout(look, wait)
      return
    }
    late = 0
    v.refresh()
    v.reach(Number(card.dataset.lines ?? 0))
    if (!v.behind) v.draw()
    const said = document.getElementById(`${card.id.replace(/\.r$/, '')}.t`)?.textContent ?? ''
    if ('reading' in pane.dataset) { // most files are there before anybody could press Stop
      words.textContent = said
      pane.querySelector('[data-act=stop-tool]').hidden = Number(card.dataset.elapsed) < soonRead
      return
    }
    pane.querySelector('[data-so-far]').textContent = some(v.last, 'line')
    words.textContent = `${v.following ? 'Following the end' : 'Paused'} · ${said.replace(/^Following · ([\d,]+ lines? · )?/, '')}`
    const clock = pane.querySelector('.state .live')
    const elapsed = card.querySelector('.state .live')
    if (clock && elapsed) clock.textContent = elapsed.textContent
  }
  const seen = new MutationObserver((changes) => {
    if (changes.some((c) => c.type === 'childList' || c.target.dataset.output === pane.dataset.output)) soon ||= setTimeout(look, wait)
  })
  seen.observe(turns, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-lines', 'data-bytes', 'data-elapsed'] })
  look()
}

/** Gives back the panes that were not in front for longest. */
function trim() {
  for (const [key, pane] of panes) {
    if (panes.size <= most) return
    if (pane.hidden) drop(key)
  }
}

/** What stands there when the server does not answer, or never heard of it. */
function away(tab, err) {
  const { root, parts } = clone('tpl-away')
  root.setAttribute('aria-label', tab.base)
  parts.name.textContent = plain(tab.name)
  if (!err) {
    parts.title.textContent = 'Press Enter to open it'
    parts.text.textContent = 'This file may hold secrets, so only its name is shown.'
    root.querySelector('.do').remove()
    return root
  }
  parts.title.textContent = err.status === 404 ? 'Not an output of this session' : 'Not connected'
  parts.text.textContent = err.status === 404 ? err.message : 'It comes when the connection is back.'
  return root
}

export function paneActs() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('.pane [data-act=pause]')
    const pane = button?.closest('[data-pane]')
    const v = pane && viewerOf(pane)
    if (!v) return
    v.following = !v.following
    button.querySelector('[data-label]').textContent = v.following ? 'Pause' : 'Follow'
    button.setAttribute('aria-pressed', String(!v.following))
    if (v.following) v.move(v.most)
  })
}
