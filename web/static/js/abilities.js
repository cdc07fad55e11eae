// What the agent of this session can do for a line that begins with /: sum up and forget
// its conversation, tell what it works with, and take commands of its own.

import { getJSON, path, post, session } from './api.js'
import { confirmed } from './confirm.js'
import * as menu from './menu.js'
import { toast } from './toast.js'

const number = (n) => n.toLocaleString('en')
const tokens = (n) => `${number(n)} ${n === 1 ? 'token' : 'tokens'}`

async function compact(field, focus) {
  await post(path('/compact'), { focus })
}

async function clear() {
  if (!await confirmed('Clear the conversation?', 'The agent forgets the conversation so far. You can still read it here, and files stay as they are.', 'Clear')) return
  await post(path('/clear'))
  toast('The agent starts fresh with your next prompt.')
}

/** Asks the agent what it works with and lists a part of it. */
async function list(field, part, rows, none) {
  await menu.ask(async (signal) => {
    const items = rows((await post(path('/inside'), undefined, { signal }))[part])
    return items.length ? items : [{ label: none, icon: 'chip' }]
  }, field, () => {})
}

const share = (n, of) => (of ? `${n && n * 100 < of ? 'under 1' : Math.round((n * 100) / of)} %` : '')

const filled = (c) => [
  { label: c.limit ? `${number(c.used)} of ${tokens(c.limit)}` : tokens(c.used), note: c.model, icon: 'chip', end: share(c.used, c.limit) },
  ...c.parts.filter((p) => p.tokens).map((p) => ({ label: p.name, note: tokens(p.tokens), icon: 'rail', end: share(p.tokens, c.limit) })),
]

const named = (all) => all.map((h) => ({ label: h.name, note: h.about, icon: 'chip' }))

/** By what the server calls it in `can`: the command, and what it does. */
const abilities = {
  compact: { name: '/compact', what: 'summarize the conversation; add what the summary must keep', icon: 'again', does: compact },
  clear: { name: '/clear', what: 'have the agent forget the conversation', icon: 'pen', does: clear },
  context: { name: '/context', what: 'what fills the context', icon: 'rail', does: (field) => list(field, 'context', filled) },
  instructions: { name: '/instructions', what: 'the instruction files that are loaded', icon: 'file', does: (field) => list(field, 'instructions', (all) => all.map((i) => ({ label: i.path, note: i.tokens ? tokens(i.tokens) : '', icon: 'file' })), 'No instruction files are loaded') },
  helpers: { name: '/agents', what: 'helpers that the agent can call', icon: 'chip', does: (field) => list(field, 'helpers', named, 'The agent has no helpers') },
  skills: { name: '/skills', what: 'instructions that the agent loads when it needs them', icon: 'file', does: (field) => list(field, 'skills', named, 'No skills are loaded') },
}

/** What the agent can do. */
const agents = {
  known: [], // what the menu offers, as it was when / was typed
}

/** The commands that the agent takes, as far as they are known by now. */
export const offered = () => agents.known

/** Asks again what the agent can; whether that is news. */
export async function look() {
  const asked = import('./servertexts.js').then((m) => m.commands())
  const { can, commands } = session() ? await getJSON(path('/choices')) : { can: [], commands: [] }
  const ours = can.map((what) => abilities[what]).filter(Boolean)
  const theirs = commands.map((c) => ({ name: `/${c.name}`, what: c.about, hint: c.hint, icon: 'slash', end: 'agent' })).filter((c) => !ours.some((o) => o.name === c.name))
  const before = agents.known.map((c) => c.name).join()
  agents.known = [...ours, ...theirs, ...await asked]
  return agents.known.map((c) => c.name).join() !== before
}

/** What a command of the agent does here; nothing for one that it takes as a prompt, false for one it does not know. */
export async function ability(name) {
  await look()
  const found = agents.known.find((c) => c.name.toLowerCase() === name.toLowerCase())
  return found ? found.does : false
}
