// The start page: what was looked at lately, what changed and is not committed, and
// what works in this folder. A file opens on the Desk, a command runs there, and neither
// calls a model. The digits open the recent files, as long as nothing else is typed.

import { folder, getJSON, session } from './api.js'
import { clone, plain } from './html.js'
import { fill as write, look } from './composer.js'
import { showing } from './commands.js'
import { whereabouts } from './owntree.js'
import { keepLook, peek, unpeek } from './peek.js'
import { iconOf } from './tabs.js'
import { failed } from './toast.js'
import { ways } from './ways.js'

const page = document.getElementById('hello')
const shown = 4 // rows of a list
const wide = matchMedia('(min-width: 1100px)') // where the Desk stands beside
/** What the digits open. */
const picks = {
  recent: [], // what the digits open
  digit: '', // of what is looked at
}

const run = (command) => () => look({ tool: 'run_and_display', arguments: { command } })
const file = (path) => () => look(showing({ path }))

function row({ icon, name, words, added, removed, end, bad, key, act }) {
  const { root, parts } = clone('tpl-start')
  root.querySelector('use').setAttribute('href', `#i-${icon}`)
  parts.name.textContent = plain(name)
  parts.name.classList.toggle('mono', !words)
  parts.added.textContent = added ? `+${added.toLocaleString('en')}` : ''
  parts.removed.textContent = removed ? `−${removed.toLocaleString('en')}` : ''
  parts.end.textContent = end ?? ''
  parts.end.classList.toggle('fail', Boolean(bad))
  parts.key.textContent = key ?? ''
  parts.key.hidden = !key
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
  whereabouts({ ...d, worktree: d.worktree && !session() })
  const diff = d.changes > 1 && d.changed.some((c) => c.kind !== 'new') // which does not show new files
  const changed = d.changed.slice(0, diff && d.changes > shown ? shown - 1 : shown).map((c) => row({
    icon: icons[c.kind], name: c.path, added: c.added, removed: c.removed, end: c.kind === 'modified' ? '' : c.kind,
    act: c.kind === 'deleted' ? run(`git show HEAD:./${quoted(c.path)}`) : file(c.path),
  }))
  if (diff) changed.push(row({ icon: 'diff', name: 'git diff HEAD', act: run('git diff HEAD') }))
  fill('changed', changed)
  picks.recent = d.looked.slice(0, shown).map(({ path }) => ({ key: `file ${path}`, path, icon: iconOf('file', path), wanted: showing({ path }), peeks: true }))
  fill('looked', d.looked.slice(0, shown).map((l, i) => row({ icon: iconOf('file', l.path), name: l.path.split('/').pop(), end: when(l.at), key: i + 1, act: file(l.path) })))
  const runs = d.commands.map((c) => row({ icon: 'term', name: `Run ${c.command}`, words: true, end: took(c), bad: c.exitCode, act: run(c.command) }))
  const readme = d.readme ? [row({ icon: 'eye', name: 'Show me the readme', words: true, act: file(d.readme) })] : []
  const find = row({ icon: 'search', name: 'Find text in all files', words: true, key: 'Ctrl ⇧ F', act: async () => document.dispatchEvent(new CustomEvent('webchat:grep')) })
  fill('try', [...[...readme, ...runs].slice(0, shown - 1), find])
}

/** Looks at a recent file while its digit is all that is typed. */
function typed(e) {
  const { value } = e.target
  if (value === picks.digit) return
  const option = wide.matches && !page.hidden && /^[1-4]$/.test(value) && !e.inputType?.startsWith('delete') ? picks.recent[value - 1] : null
  picks.digit = option ? value : ''
  Promise.resolve(option ? peek(option) : unpeek()).catch(failed)
}

/** Enter opens what is looked at. */
function open(e) {
  const option = picks.digit && picks.recent[picks.digit - 1]
  if (!option || e.key !== 'Enter' || e.isComposing || e.shiftKey || e.altKey || e.ctrlKey || e.metaKey || e.target.id !== 'prompt') return
  e.preventDefault()
  e.stopImmediatePropagation()
  picks.digit = ''
  write('')
  peek(option).then(() => keepLook(option)).then((kept) => kept || look(option.wanted)).catch(failed)
}

/** A path as one word of a shell. */
const quoted = (path) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

export function starting() {
  if (!page || page.hidden) return
  ways()
  document.getElementById('prompt').addEventListener('input', typed)
  document.addEventListener('keydown', open, true)
  getJSON(`/api/start?workspace=${encodeURIComponent(folder())}`).then(draw).catch(failed)
}
