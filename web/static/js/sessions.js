// The list of sessions: the server draws it; here it is read again when
// something changed, and unread ones are marked.

import { getText, patch, post, remove, session } from './api.js'
import { onChanged } from './connection.js'
import { fragment } from './html.js'
import { failed, toast } from './toast.js'

const list = document.getElementById('sessions')
const readKey = 'webchat.read' // session → last sequence seen
let timer = 0
let stale = false

const seen = () => JSON.parse(localStorage.getItem(readKey) ?? '{}')

function markRead() {
  const turns = document.getElementById('turns')
  if (!session() || !turns || document.hidden) return
  const all = seen()
  all[session()] = Number(turns.dataset.seq ?? 0)
  localStorage.setItem(readKey, JSON.stringify(all))
}

function marks() {
  const all = seen()
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

async function refresh() {
  if (document.hidden) { stale = true; return }
  stale = false
  try {
    const { current } = { current: session() }
    const fresh = fragment(await getText(`/sessions${current ? `?current=${current}` : ''}`))
    const focused = document.activeElement?.closest?.('#sessions [data-session]')?.dataset.session
    list.replaceChildren(fresh)
    marks()
    if (focused) list.querySelector(`[data-session="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
  } catch { stale = true }
}

function soon() {
  clearTimeout(timer)
  timer = setTimeout(refresh, 150)
}

async function drop(id) {
  await remove(`/api/sessions/${id}`)
  const undo = { label: 'Undo', run: () => post(`/api/sessions/${id}/restore`).then(soon).catch(failed) }
  toast('Deleted', { act: undo, ms: 28_000 })
  if (id === session()) setTimeout(() => location.assign('/'), 28_000)
  soon()
}

function rename(id) {
  const at = document.getElementById('title')
  if (!at || id !== session()) return
  const was = at.textContent
  at.setAttribute('contenteditable', 'plaintext-only')
  at.focus()
  getSelection().selectAllChildren(at)
  const done = (keep) => {
    at.removeAttribute('contenteditable')
    const title = at.textContent.trim()
    if (!keep || !title || title === was) at.textContent = was
    else patch(`/api/sessions/${id}`, { title }).catch((err) => { at.textContent = was; failed(err) })
  }
  at.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' || e.key === 'Escape') {
      e.preventDefault()
      if (e.key === 'Escape') at.textContent = was
      at.blur()
    }
  })
  at.addEventListener('blur', () => done(true), { once: true })
}

const acts = {
  rename: (id) => rename(id),
  pin: (id, button) => patch(`/api/sessions/${id}`, { pinned: button.getAttribute('aria-pressed') !== 'true' }).then(soon),
  delete: (id) => drop(id),
}

export function sessions() {
  if (!list) return
  marks()
  markRead()
  onChanged(soon)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) { markRead(); if (stale) refresh() } })
  document.addEventListener('webchat:frame', markRead)
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('[data-act]')
    const f = button && !button.closest('[data-card]') && acts[button.dataset.act]
    if (!f) return
    e.preventDefault()
    Promise.resolve(f(button.closest('[data-session]')?.dataset.session ?? session(), button)).catch(failed)
  })
}
