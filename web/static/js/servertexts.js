// Prompts and resources of MCP servers: /SERVER:PROMPT writes what the server answers into the
// composer, @SERVER: attaches a resource by its price. What either is about is asked for in the
// composer, a line for each, above what stands there.

import { getJSON, post, session } from './api.js'
import { addFile, addLines } from './attach.js'
import * as menu from './menu.js'
import { at, place } from './servers.js'

const pause = 150 // ms without a key until a server is asked for completions
const ask = (server, what, body, signal) => post(`${at(server, what)}?${place(session())}`, body, { signal })
const list = async (what, signal) => (await getJSON(`/api/mcp/${what}?${place(session())}`, { signal }))[what]
const byName = (l, { name }) => l.startsWith(`${name}:`) || l.startsWith(`${name} (`)
const line = (a, given) => `${a.name}${a.required ? '' : ' (may stay empty)'}: ${given[a.name] ?? ''}`

/** What lines give of arguments, up to the first that gives none, and what stands below. */
function read(lines, args) {
  const given = {}
  while (lines.length) {
    const a = args.find((one) => byName(lines[0], one))
    if (!a) break
    const value = lines.shift().replace(/^[^:]*:/, '').trim()
    if (value) given[a.name] = value
  }
  return { given, below: lines.join('\n').trim() }
}

function write(field, text, to = text.search(/: (?=\n|$)/) + 2) {
  field.value = text
  if (to > 1) field.setSelectionRange(to, to)
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** What is typed behind a command; all that is typed, where it is not there. */
const behind = (field, c) => field.value.slice(field.value.startsWith(c.name) ? c.name.length : 0).trim()

/** Writes what a command asks for above what stands there. */
function begin(field, c, { given, below }) {
  write(field, [[c.name, ...c.args.map((a) => line(a, given))].join('\n'), below].filter(Boolean).join('\n\n'))
}

/** Does a command, or asks for what it is about. What is typed meanwhile stays. */
async function run(field, c, rest) {
  const typed = read(rest.split('\n'), c.args)
  if ((!rest && c.args.length) || c.args.some((a) => a.required && !typed.given[a.name])) {
    if (behind(field, c) === rest) begin(field, c, typed)
    return 'stays'
  }
  const text = await c.take(typed.given)
  const all = [text, read(behind(field, c).split('\n'), c.args).below].filter(Boolean).join('\n\n')
  write(field, /^[/!]/.test(all) ? ` ${all}` : all, all.length) // else it would be a command
  return 'stays'
}

/** Offers what the argument of the caret's line may be. */
function values(field, c) {
  const end = field.selectionEnd
  const from = field.value.lastIndexOf('\n', end - 1) + 1
  const typed = field.value.slice(from, end)
  const a = c.args.find((one) => byName(typed, one))
  if (!a || !typed.includes(':')) return menu.close()
  const value = typed.replace(/^[^:]*:/, '').trim()
  const find = async (signal) => {
    await new Promise((done) => setTimeout(done, pause))
    if (signal.aborted) return []
    const { given } = read(field.value.split('\n').slice(1), c.args)
    const known = await ask(c.server, 'complete', { ...c.ref, argument: a.name, value, arguments: given }, signal)
    return known.values.filter((v) => v !== value).map((v) => ({ label: v, icon: 'chip', end: a.name }))
  }
  return menu.ask(find, field, ({ label }) => {
    const stop = (field.value.indexOf('\n', from) + 1 || field.value.length + 1) - 1
    const text = field.value.slice(0, from) + line(a, { [a.name]: label }) + field.value.slice(stop)
    const free = text.search(/: (?=\n|$)/)
    write(field, text, free < 0 ? from + line(a, { [a.name]: label }).length : free + 2)
  }).catch(() => {}) // one can type it
}

const command = (c) => ({ ...c, hint: c.args.map((a) => a.name).join(' '), icon: 'chip', end: c.server, does: (field, rest) => run(field, c, rest), values: (field) => values(field, c) })

const prompt = (p) => command({ name: `/${p.server}:${p.name}`, what: p.about ?? '', server: p.server, args: p.arguments, ref: { prompt: p.name }, take: async (given) => (await ask(p.server, 'prompt', { name: p.name, arguments: given })).text })

const resource = (r) => command({ name: `/${r.server}:@${r.name.replace(/[\s/]+/g, '-')}`, what: r.about || r.uri, server: r.server, args: r.arguments, ref: { uri: r.uri }, take: (given) => attach(r, given) })

/** The prompts, and the resources that ask for something, as commands that can be typed; none where they cannot be asked for. */
export async function commands() {
  const [prompts, resources] = await Promise.all(['prompts', 'resources'].map((what) => list(what).catch(() => [])))
  return [...prompts.map(prompt), ...resources.filter((r) => r.arguments.length).map(resource)].filter((c) => /^\/[a-z][^\s/]*$/i.test(c.name))
}

/** What @text may mean: {label, note, icon, end, attach}; none of a text that names no server. */
export async function resources(text, signal) {
  const server = text.slice(0, text.indexOf(':'))
  const q = text.slice(server.length + 1).toLowerCase()
  return (await list('resources', signal)).filter((r) => r.server === server && `${r.name} ${r.uri}`.toLowerCase().includes(q)).slice(0, 50)
    .map((r) => ({ label: r.name, note: r.about || r.uri, icon: 'chip', end: r.arguments.length ? `asks for ${r.arguments.map((a) => a.name).join(', ')}` : r.server, attach: async (field) => (r.arguments.length ? begin(field, resource(r), { given: {}, below: field.value.trim() }) : attach(r)) }))
}

async function attach(r, given) {
  const { text, pictures } = await ask(r.server, 'resource', { uri: r.uri, arguments: given })
  const label = `${r.server}: ${[r.name, ...Object.values(given ?? {})].join(' ')}`
  for (const p of pictures) addFile(new File([Uint8Array.from(atob(p.data), (c) => c.charCodeAt(0))], label, { type: p.type }))
  if (text || !pictures.length) await addLines({ label, text, icon: '#i-read' })
}
