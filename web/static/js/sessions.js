// The list of sessions: the server draws it; here it is read again when
// something changed, and unread ones are marked.

import { openChanged } from './changedlist.js'
import { getText, inFolder, patch, post, remove, session } from './api.js'
import { visit } from './base.js'
import { onChanged } from './connection.js'
import { ends, folders, listed } from './folders.js'
import { clone, fragment } from './html.js'
import { popup } from './popup.js'
import { saveSession } from './save.js'
import { failed, toast } from './toast.js'

const list = document.getElementById('sessions')
const readKey = 'webchat.read' // session → last sequence seen
/** What is known of the list of sessions. */
const sidebar = {
  timer: 0,
  stale: false,
  asked: 0, // how often the list was asked for
  day: new Date().getDate(), // of which the list says Today
}

const seen = () => JSON.parse(localStorage.getItem(readKey) ?? '{}')

function markRead() {
  const turns = document.getElementById('turns')
  if (!session() || !turns || document.hidden) return
  const all = seen()
  all[session()] = Number(turns.dataset.seq ?? 0)
  localStorage.setItem(readKey, JSON.stringify(all))
}

const few = 8 // sessions from which on one is looked for

/** The filter stands there once there is something to filter. */
function sieve() {
  const filter = document.getElementById('filter')
  const used = [...new FormData(filter)].some(([, value]) => value)
  if (filter.hidden && (list.querySelectorAll('a[data-session]').length >= few || list.querySelector('.next'))) filter.hidden = false
  else if (!filter.hidden && !used && !filter.contains(document.activeElement) && list.querySelectorAll('a[data-session]').length < few && !list.querySelector('.next, .folder [aria-expanded=false]')) filter.hidden = true
}

function marks() {
  sieve()
  const all = seen()
  const waits = list.querySelectorAll(`[data-status=waiting]:not([data-session="${CSS.escape(session() || '-')}"])`).length
  for (const b of document.querySelectorAll('#bar [data-act=side]')) {
    b.classList.toggle('badge', waits > 0)
    b.setAttribute('aria-label', waits ? `Sessions, ${waits} ${waits === 1 ? 'waits' : 'wait'} for you ([)` : 'Sessions ([)')
  }
  for (const row of list.querySelectorAll('[data-session]')) {
    const { session: id, last, status } = row.dataset
    // A session that was never opened here is not news.
    const n = id === session() || !(id in all) || status === 'running' ? 0 : Math.max(0, Number(last) - all[id])
    if (n) row.dataset.unread = n
    else delete row.dataset.unread
    row.toggleAttribute('aria-current', id === session())
    if (id === session()) row.setAttribute('aria-current', 'page')
  }
}

/** Where what has the focus stands in the list: a row, or the head of a folder. */
function focus() {
  const el = document.activeElement
  const row = el?.closest?.('#sessions [data-session]')
  if (row) return `${row.localName}[data-session="${CSS.escape(row.dataset.session)}"]`
  return el?.matches('#sessions .folder [data-act]') ? `.folder[data-folder="${CSS.escape(el.closest('.folder').dataset.folder)}"] [data-act=${el.dataset.act}]` : ''
}

async function refresh() {
  if (document.hidden) { sidebar.stale = true; return }
  sidebar.stale = false
  try {
    if (list.querySelector('input')) return soon() // a title is being typed
    const turn = ++sidebar.asked
    const address = listed()
    const fresh = fragment(await getText(address))
    if (turn !== sidebar.asked) return // a later answer is newer
    if (list.querySelector('input') || address !== listed()) return soon() // the list has become another meanwhile
    const focused = focus()
    const trouble = fresh.querySelector('template[data-trouble]')
    trouble.remove()
    document.getElementById('trouble')?.replaceWith(document.importNode(trouble.content, true))
    list.replaceChildren(fresh)
    ends()
    marks()
    if (focused) list.querySelector(focused)?.focus({ preventScroll: true })
  } catch { sidebar.stale = true }
}

function soon() {
  clearTimeout(sidebar.timer)
  sidebar.timer = setTimeout(refresh, 150)
}

/** After midnight other sessions are those of Today. */
function newDay() {
  const now = new Date().getDate()
  if (now !== sidebar.day) soon()
  sidebar.day = now
}

/** Deletes a session; tree: its worktree is thrown away, too. */
async function drop(id, tree) {
  await remove(`/api/sessions/${id}${tree ? '?worktree=throw' : ''}`)
  const leave = id === session() && setTimeout(() => visit(inFolder()), 28_000)
  const restore = () => post(`/api/sessions/${id}/restore`).then(() => tree && post(`/api/sessions/${id}/worktree/restore`, {})).then(() => { clearTimeout(leave); soon() }).catch(failed)
  toast('Deleted. It can be restored for 30 seconds', { act: { label: 'Undo', run: restore }, ms: 28_000 })
  soon()
}

function rename(id) {
  const row = list.querySelector(`a[data-session="${CSS.escape(id)}"]`)
  const at = row?.querySelector('.t')
  if (!at) return
  if (!row.checkVisibility()) document.querySelector('#bar [data-act=side]')?.click()
  const { root: input } = clone('tpl-rename')
  input.value = at.textContent
  row.replaceWith(input)
  input.select()
  let over = false
  const done = async (keep) => {
    if (over) return // taking the field away takes its focus, too
    over = true
    const title = input.value.trim()
    input.replaceWith(row)
    row.focus()
    if (keep && title && title !== at.textContent) await patch(`/api/sessions/${id}`, { title }).then(soon).catch(failed)
  }
  input.addEventListener('keydown', (e) => {
    e.stopPropagation()
    if (e.key === 'Enter') done(true)
    if (e.key === 'Escape') done(false)
  })
  input.addEventListener('blur', () => done(true))
}

/** What can be done with a session, and more; what deletes stands last. */
function entries(id, more = []) {
  const { pinned, tree } = list.querySelector(`a[data-session="${CSS.escape(id)}"]`)?.dataset ?? {}
  return [
    { label: 'Rename', icon: 'pen', run: () => rename(id) },
    { label: pinned === '' ? 'Unpin' : 'Pin', icon: 'tail', run: () => patch(`/api/sessions/${id}`, { pinned: pinned !== '' }).then(soon).catch(failed) },
    ...(id === session() ? [{ label: 'What it changed', icon: 'diff', run: () => openChanged() }] : []),
    { label: 'Replay', icon: 'play', run: () => visit(`/sessions/${id}/replay`) },
    { label: 'Save as a page', icon: 'down', run: () => saveSession(id, 'html') },
    { label: 'Save as Markdown', icon: 'down', run: () => saveSession(id, 'md') },
    ...more,
    { label: 'Delete', icon: 'trash', ...(tree === '' && { about: 'Its worktree stays' }), run: () => drop(id).catch(failed) },
    ...(tree === '' ? [{ label: 'Delete with its worktree', icon: 'trash', about: 'With all that was not brought back', run: () => drop(id, true).catch(failed) }] : []),
  ]
}

const menu = (id, button) => popup(button, entries(id))

/** The menu of the page's own session; of one that does not exist yet, only what concerns the page. */
function titleMenu(id, button) {
  const print = [{ label: 'Print', icon: 'file', run: () => document.dispatchEvent(new Event('webchat:print')) }]
  popup(button, id ? entries(id, print) : print)
}

const acts = { rename, 'title-menu': titleMenu, 'session-menu': menu, delete: (id) => drop(id) }

export function sessions() {
  if (!list) return
  marks()
  markRead()
  onChanged(soon)
  setInterval(newDay, 60_000)
  folders(refresh)
  if ('short' in list.dataset) requestAnimationFrame(() => setTimeout(refresh)) // once the page is painted
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { markRead(); if (sidebar.stale) refresh() } })
  document.addEventListener('webchat:frame', (e) => {
    markRead()
    if (e.detail.ops.some((o) => o.t === 'title')) soon() // it may have got its title before changes were heard of
  })
  addEventListener('storage', (e) => { if (e.key === readKey) marks() }) // read in another tab
  list.addEventListener('contextmenu', (e) => { // a finger that holds a row
    const row = e.target.closest('a[data-session]')
    if (!row || !matchMedia('(pointer: coarse)').matches) return
    e.preventDefault()
    menu(row.dataset.session, row)
  })
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('[data-act]')
    const f = button && !button.closest('[data-card]') && acts[button.dataset.act]
    if (!f) return
    e.preventDefault()
    Promise.resolve(f(button.closest('[data-session]')?.dataset.session ?? session(), button)).catch(failed)
  })
}
