// The overlay on Ctrl K: outputs of this session, what was said here, other
// sessions, and things to do.

import { getJSON, session } from './api.js'
import { visit } from './base.js'
import { clone } from './html.js'

const dialog = document.getElementById('search')
const most = 6 // hits of a kind
let hits = []
let at = 0
let asking = null

const contains = (text, q) => text.toLowerCase().includes(q.toLowerCase())

function outputs(q) {
  return [...document.querySelectorAll('#turns [data-card]')].filter((c) => contains(c.dataset.name ?? '', q)).slice(0, most)
    .map((c) => ({ label: c.dataset.name, note: '', icon: { terminal: 'term', image: 'image', hex: 'hex' }[c.dataset.kind] ?? 'file', card: c, run: () => jump(c) }))
}

function said(q) {
  if (q.length < 2) return []
  return [...document.querySelectorAll('#turns h2, #turns .said')].filter((el) => contains(el.textContent, q)).slice(0, most)
    .map((el) => ({ label: around(el.textContent, q), note: '', icon: 'you', run: () => jump(el) }))
}

function around(text, q) {
  const i = Math.max(0, text.toLowerCase().indexOf(q.toLowerCase()) - 30)
  return (i ? '…' : '') + text.slice(i, i + 100).trim()
}

function jump(el) {
  el.scrollIntoView({ block: 'center' })
  const card = el.closest('[data-card]')
  card?.focus({ preventScroll: true })
  card?.classList.add('is-now')
  setTimeout(() => card?.classList.remove('is-now'), 2000)
}

const things = [
  { label: 'New session', note: 'n', icon: 'pen', run: () => document.querySelector('[data-act=new]')?.click() },
  { label: 'Light or dark', note: '', icon: 'theme', run: () => document.querySelector('[data-act=theme]')?.click() },
  { label: 'All keys', note: '?', icon: 'check', run: () => document.getElementById('keys')?.showModal() },
]

async function others(q) {
  asking?.abort()
  asking = new AbortController()
  const found = await getJSON(`/api/sessions?limit=20&q=${encodeURIComponent(q)}`, { signal: asking.signal })
  return found.sessions.filter((s) => s.id !== session() || s.url).slice(0, most)
    .map((s) => ({ label: s.title || 'Untitled', note: '', parts: s.parts, icon: 'right', run: () => visit(s.url ?? `/sessions/${s.id}`) }))
}

/** A text cut at each place that holds q: plain, matched, plain … */
function cut(text, q) {
  const parts = []
  const low = text.toLowerCase()
  const what = q.toLowerCase()
  let from = 0
  // Where lower case is longer than the text, places in it say nothing.
  for (let i; what && low.length === text.length && (i = low.indexOf(what, from)) >= 0; from = i + what.length) {
    parts.push(text.slice(from, i), text.slice(i, i + what.length))
  }
  return [...parts, text.slice(from)]
}

/** The text around a match: plain, matched, plain … */
function marked(parts) {
  return parts.map((text, i) => {
    if (i % 2 === 0) return text
    const mark = document.createElement('mark')
    mark.textContent = text
    return mark
  })
}

function draw(groups, q) {
  const box = document.getElementById('search-hits')
  hits = []
  box.replaceChildren()
  for (const [name, list] of groups) {
    if (!list.length) continue
    const group = clone('tpl-hits')
    group.parts.name.textContent = name
    group.parts.count.textContent = list.length
    box.append(group.root)
    for (const hit of list) {
      const { root, parts } = clone('tpl-hit')
      parts.text.replaceChildren(...marked(cut(hit.label, q)))
      parts.at.replaceChildren(...marked(hit.parts ?? [hit.note]))
      if (hit.icon) root.querySelector('use')?.setAttribute('href', `#i-${hit.icon}`)
      root.id = `hit-${hits.length}`
      const i = hits.push(hit) - 1
      root.addEventListener('click', () => choose(i))
      box.append(root)
    }
  }
  dialog.querySelector('[data-count]').textContent = hits.length ? `${hits.length} found` : 'Nothing found'
  move(0)
}

function move(to) {
  if (!hits.length) return
  at = (to + hits.length) % hits.length
  for (let i = 0; i < hits.length; i++) document.getElementById(`hit-${i}`).setAttribute('aria-selected', String(i === at))
  const now = document.getElementById(`hit-${at}`)
  now.scrollIntoView({ block: 'nearest' })
  dialog.querySelector('input').setAttribute('aria-activedescendant', now.id)
}

function choose(i, alone) {
  const hit = hits[i]
  dialog.close()
  hit?.run()
  if (alone) hit?.card?.dispatchEvent(new CustomEvent('webchat:open', { bubbles: true, detail: { target: hit.card.dataset.output } }))
}

async function update() {
  const q = dialog.querySelector('input').value.trim()
  const here = [['Outputs here', outputs(q)], ['Said', said(q)]]
  const act = ['Do', things.filter((t) => contains(t.label, q))]
  draw([...here, act], q)
  try {
    const list = await others(q)
    if (q === dialog.querySelector('input').value.trim()) draw([...here, ['In sessions', list], act], q)
  } catch { /* what is here can still be found */ }
}

export function openSearch() {
  if (!dialog || dialog.open) return
  const input = dialog.querySelector('input')
  input.value = ''
  dialog.showModal()
  input.focus()
  update()
}

export function searching() {
  if (!dialog) return
  dialog.addEventListener('input', update)
  dialog.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown') move(at + 1)
    else if (e.key === 'ArrowUp') move(at - 1)
    else if (e.key === 'Enter') choose(at, e.ctrlKey || e.metaKey)
    else return
    e.preventDefault()
  })
  dialog.addEventListener('click', (e) => { if (e.target === dialog) dialog.close() })
}
