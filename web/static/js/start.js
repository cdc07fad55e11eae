// The start page: what changed and is not committed, what was looked at lately, and
// what may be run. A file opens on the Desk, a command runs there; the model is told
// of neither.

import { folder, getJSON } from './api.js'
import { clone, plain, some } from './html.js'
import { look } from './composer.js'
import { showing } from './commands.js'
import { iconOf } from './tabs.js'
import { failed } from './toast.js'

const page = document.getElementById('hello')
const shown = 4 // rows of a list

const run = (command) => () => look({ tool: 'run_and_display', arguments: { command } })
const file = (path) => () => look(showing({ path }))

function row({ icon, name, words, added, removed, end, bad, act }) {
  const { root, parts } = clone('tpl-start')
  root.querySelector('use').setAttribute('href', `#i-${icon}`)
  parts.name.textContent = plain(name)
  parts.name.classList.toggle('mono', !words)
  parts.added.textContent = added ? `+${added.toLocaleString('en')}` : ''
  parts.removed.textContent = removed ? `−${removed.toLocaleString('en')}` : ''
  parts.end.textContent = end ?? ''
  parts.end.classList.toggle('fail', Boolean(bad))
  root.title = plain(name)
  root.addEventListener('click', () => act().catch(failed))
  return root
}

function fill(name, rows) {
  const list = page.querySelector(`[data-list=${name}]`)
  list.hidden = !rows.length
  list.lastElementChild.replaceChildren(...rows)
}

/** A moment as short as it can be: the time of today, the day before, or the date. */
function when(text) {
  const at = new Date(text)
  const today = new Date()
  const days = Math.round((today.setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86_400_000)
  if (days === 0) return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
  return days === 1 ? 'yesterday' : at.toLocaleDateString('en', days < 7 ? { weekday: 'long' } : { month: 'short', day: 'numeric' })
}

function took(c) {
  if (c.exitCode) return `exit ${c.exitCode}`
  return c.durationMs >= 100 ? `${(c.durationMs / 1000).toFixed(1)} s` : ''
}

const icons = { modified: 'pen', new: 'plus', deleted: 'x' }

function draw(d) {
  const head = document.getElementById('start-head')
  head.querySelector('[data-branch]').textContent = d.branch ?? ''
  const count = d.more ? `${d.changes.toLocaleString('en')} or more files` : some(d.changes, 'file')
  head.querySelector('[data-changes]').textContent = d.changes ? `${count} changed` : ''
  const changed = d.changed.slice(0, d.changes > shown ? shown - 1 : shown).map((c) => row({
    icon: icons[c.kind], name: c.path, added: c.added, removed: c.removed, end: c.kind === 'modified' ? '' : c.kind,
    act: c.kind === 'deleted' ? run(`git show HEAD:./${quoted(c.path)}`) : file(c.path),
  }))
  if (d.changes > 1) changed.push(row({ icon: 'diff', name: d.more ? 'All changes' : `All ${d.changes} changes`, words: true, act: run('git diff HEAD') }))
  fill('changed', changed)
  fill('looked', d.looked.slice(0, shown).map((l) => row({ icon: iconOf('file', l.path), name: l.path.split('/').pop(), end: when(l.at), act: file(l.path) })))
  fill('run', d.commands.slice(0, shown).map((c) => row({ icon: 'term', name: c.command, end: took(c), bad: c.exitCode, act: run(c.command) })))
}

/** A path as one word of a shell. */
const quoted = (path) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

export function starting() {
  if (!page || page.hidden) return
  getJSON(`/api/start?workspace=${encodeURIComponent(folder())}`).then(draw).catch(failed)
}
