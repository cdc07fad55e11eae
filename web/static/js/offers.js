// What the bar offers for what is typed: files of the workspace, messages and what was
// shown here, sessions, and things to do. > does, : goes to a line, ! runs, # finds a
// definition in what is in front.

import { filesLike, folder, getJSON, getText, inFolder, post, session } from './api.js'
import { visit } from './base.js'
import { openChanged } from './changedlist.js'
import { confirmed } from './confirm.js'
import { consent } from './consent.js'
import { fill, look } from './composer.js'
import { file } from './filerow.js'
import { openOutput } from './desk.js'
import { keyName } from './fingers.js'
import { paneOf, place } from './pane.js'
import { turnRound } from './recognise.js'
import { stays } from './stays.js'
import { reading, records, rowOf, tabOf, iconOf } from './tabs.js'

const most = 8 // hits of a kind
const recent = 12 // files in an empty bar

const contains = (text, q) => text.toLowerCase().includes(q.toLowerCase())
const press = (act) => () => document.querySelector(`[data-act=${act}]`)?.click()

/** Everything that can be done by name. */
const things = [
  { label: 'New session', end: 'n', icon: 'pen', run: () => visit(inFolder()) },
  { label: 'Open a folder', end: '~', icon: 'folder', again: '~/' },
  { label: 'Search the text of this folder', end: keyName('Ctrl ⇧ F'), icon: 'search', run: () => document.dispatchEvent(new CustomEvent('webchat:grep')) },
  { label: 'All keys', end: '?', icon: 'check', run: () => document.getElementById('keys')?.showModal() },
  { label: 'All outputs', end: 't', icon: 'rail', run: () => document.querySelector('.shelf-btn')?.click() },
  { label: 'What this session changed', end: 'D', icon: 'diff', run: () => openChanged() },
  { label: 'Review what the agent changed', icon: 'diff', run: () => import('./review.js').then((m) => m.openReview()) },
  { label: 'Sessions', end: '[', icon: 'side', run: press('side') },
  { label: 'Hide or show the Desk', end: ']', icon: 'rail', run: press('desk') },
  { label: 'Two panes', end: '\\', icon: 'split', run: press('split') },
  { label: 'Settings', end: ',', icon: 'sliders', run: press('settings') },
  { label: 'Light or dark', icon: 'theme', run: () => document.dispatchEvent(new Event('webchat:theme')) },
  { label: 'Swap Enter and Alt Enter', icon: 'you', run: turnRound },
  { label: 'Print this session', icon: 'file', run: () => document.dispatchEvent(new Event('webchat:print')) },
  { label: 'Rename this session', icon: 'pen', run: () => fill('/title ') },
  { label: 'Replay this session', icon: 'play', run: () => session() && visit(`/sessions/${session()}/replay`) },
  { label: 'Save this session as a file', icon: 'down', run: () => fill('/export ') },
  { label: 'What commands may do', icon: 'stays', run: stays },
  { label: 'What agents may do', icon: 'shield', run: () => consent('permissions') },
  { label: 'Your hooks', icon: 'hook', run: () => consent('hooks') },
]

/** The newest output of each path and command, the last shown one first. */
function shown() {
  const by = new Map()
  for (const r of records()) {
    by.delete(r.key)
    by.set(r.key, r)
  }
  return [...by.values()].reverse()
}

async function files(q, signal) {
  const [, name, lines] = /^(.*?)(?::(\d+(?:-\d+)?))?$/.exec(q)
  const { files: list, secret } = await filesLike(name, 200, { signal })
  return { name: 'Files', total: list.length, list: list.slice(0, most).map((path) => file(path, { lines, secret: secret?.includes(path) })) }
}

/** Before anything is typed: what was looked at last, and apart from it what the workspace begins with. */
async function lately(signal) {
  const seen = shown().filter((r) => r.kind !== 'terminal').map((r) => r.name)
  const { files: top, secret } = await filesLike('', 20, { signal })
  const last = [...new Set(seen)].slice(0, recent)
  const rest = top.filter((path) => !last.includes(path)).slice(0, recent - last.length)
  return [['Recent files', last], ['Files', rest]].filter(([, all]) => all.length)
    .map(([name, all]) => ({ name, total: all.length, list: all.map((path) => file(path, { secret: secret?.includes(path) })) }))
}

const output = (r) => ({ key: `out ${r.out}`, label: r.name, mono: true, icon: r.icon, end: r.exit || (r.state === 'gone' ? 'deleted' : r.state === 'running' ? 'running' : ''), out: r.out, peeks: true, run: ({ beside, focus }) => openOutput(r.out, { other: beside, focus }) })

function around(text, q) {
  const i = Math.max(0, text.toLowerCase().indexOf(q.toLowerCase()) - 30)
  return (i ? '…' : '') + text.slice(i, i + 100).trim()
}

function jump(el) {
  el.tabIndex = -1
  el.focus({ preventScroll: true })
  el.scrollIntoView({ block: 'center' })
}

/** Messages and outputs of this session, as far as the page has it. */
function here(q, limit) {
  const outs = shown().filter((r) => contains(r.name, q))
  const said = [...document.querySelectorAll('#turns .turn:not([data-look]) h2[id], #turns .said:not(.other)')].filter((el) => contains(el.textContent, q))
    .map((el) => ({ key: `said ${el.id}`, label: around(el.textContent, q), icon: el.matches('h2') ? 'you' : 'chip', end: el.closest('.turn')?.querySelector('.when')?.textContent ?? '', run: () => jump(el) }))
  return { name: 'In this session', total: outs.length + said.length, list: [...outs.slice(0, limit).map(output), ...said.slice(0, limit)] }
}

async function sessions(q, limit, signal) {
  const found = await getJSON(`/api/sessions?limit=${limit + 1}&q=${encodeURIComponent(q)}`, { signal })
  const list = found.sessions.filter((s) => s.id !== session() || s.url).slice(0, limit)
    .map((s) => ({ key: `session ${s.id}`, label: s.title || 'New session', in: s.workspace === folder() ? '' : s.workspace.split(/[\\/]/).pop(), parts: s.parts, icon: 'side', run: () => visit(s.url ?? `/sessions/${s.id}`) }))
  return [{ name: 'Sessions', list }, { name: 'Shown in sessions', list: (found.outputs ?? []).slice(0, limit).map(held) }]
}

/** An output of any session whose text holds what is typed. */
function held({ session: id, title, output, type, name, line, url }) {
  const [[from, to] = [0, 0]] = line?.ranges ?? []
  const parts = line && [`${line.line.toLocaleString('en')}: ${line.text.slice(Math.max(0, from - 40), from)}`, line.text.slice(from, to), line.text.slice(to)]
  const tab = id === session() && rowOf(output)
  const run = ({ beside, focus }) => (tab ? openOutput(output, { lines: line && String(line.line), other: beside, focus }) : visit(url))
  return { key: `held ${output}`, label: name, mono: true, in: id === session() ? '' : title, parts, end: 'by name only', icon: iconOf(type, name), run }
}

/** Opens a folder as a workspace; about an unusual one it asks once. */
async function openFolder(f) {
  if (f.warning && !f.known && !await confirmed(`Open ${f.shown}?`, f.text, 'Open it')) return
  const { path } = await post('/api/workspaces', { path: f.path })
  visit(inFolder(path))
}

/** Folders to open: those that were open, then those below the home folder. */
async function folders(q, signal) {
  const { folders: list } = await getJSON(`/api/folders?limit=40&q=${encodeURIComponent(q)}`, { signal })
  return { name: 'Folders', list: list.map((f) => ({ key: `folder ${f.path}`, label: f.shown, mono: true, icon: 'folder', end: f.open ? 'open' : f.known ? 'closed' : '', again: `${f.shown}/`, run: () => openFolder(f) })) }
}

const running = (command) => ({ key: `run ${command}`, label: `Run ${command}`, mono: true, icon: 'term', end: '!', run: () => look({ tool: 'run_and_display', arguments: { command } }) })

function commands(q) {
  const known = [...new Set(shown().filter((r) => r.kind === 'terminal').map((r) => r.name))].filter((c) => contains(c, q) && c !== q)
  return { name: 'Run', list: [...(q ? [running(q)] : []), ...known.slice(0, most).map(running)] }
}

const first = new Set(['New session', 'Open a folder', 'Settings', 'All keys']) // what stands in an empty bar

function todo(q, agent) {
  const list = things.filter((t) => (q === null ? first.has(t.label) : contains(t.label, q))).map((t) => ({ key: `do ${t.label}`, ...t }))
  if (agent && q) list.push({ key: 'ask', label: `Ask the agent about “${q}”`, icon: 'send', end: keyName('Tab'), run: () => fill(q) })
  return { name: 'Do', list }
}

/** A line of what is read. */
function line(text) {
  const tab = reading()
  const pane = paneOf(tab?.key)
  const lines = /^\d+(?:-\d+)?$/.exec(text)?.[0]
  if (!pane || !lines) return { name: tab ? `Go to a line of ${tab.base}` : 'Nothing is on the Desk', list: [] }
  const go = () => place(tabOf(tab.key), lines)
  return { name: tab.base, list: [{ key: `line ${lines}`, label: `Line ${lines.replace('-', '–')}`, icon: 'right', run: go, shows: go }] }
}

const defines = String.raw`^\s*(?:(?:export|default|async|pub|public|private|protected|static|abstract|final)\s+)*(?:func|function|def|class|type|struct|interface|enum|trait|impl|fn|mod|module|const|var|let|macro_rules!|#{1,6})\s`

/** Lines of what is read that define something of that name. */
async function symbols(q, signal) {
  const tab = reading()
  if (!tab || tab.state !== 'done' || tab.kind === 'image') return { name: tab ? `${tab.base} has no definitions` : 'Nothing is on the Desk', list: [] }
  const text = await getText(`/api/outputs/${tab.out}?grep=${encodeURIComponent(defines)}`, { signal })
  const hits = text.split('\n').map((row) => /^(\d+):(.*)$/.exec(row)).filter((m) => m && contains(m[2], q))
  const go = (n) => () => place(tabOf(tab.key), n)
  return { name: `Definitions in ${tab.base}`, total: hits.length, list: hits.slice(0, 40).map(([, n, words]) => ({ key: `line ${n}`, label: words.trim().slice(0, 200), mono: true, icon: 'tree', end: n, run: go(n), shows: go(n) })) }
}

/** Finds what fits q and gives it to show, group by group, as it is known. */
export async function offers(q, { signal }, show) {
  const rest = q.slice(1).trim()
  if (/^[~/]/.test(q)) return show([await folders(q, signal)])
  if (q.startsWith('>')) return show([todo(rest)])
  if (q.startsWith('!')) return show([commands(rest)])
  if (q.startsWith(':')) return show([line(rest)])
  if (q.startsWith('#')) return show([await symbols(rest, signal)])
  if (!q) return show([...await lately(signal), todo(null)])
  const fixed = q.length < 2 ? [] : [here(q, most / 2)]
  const does = [...fixed, todo(q, true)]
  const lists = [files(q, signal), sessions(q, most / 2, signal)]
  for (const list of lists) list.catch(() => {}) // the caller that awaits it gets the error
  const first = await lists[0]
  show([first, ...does])
  const [one, two] = await Promise.all(lists)
  show([one, ...fixed, ...two, todo(q, true)])
}
