// Prompts of MCP servers: /SERVER:PROMPT asks for what it is about in the composer, a line for each, then
// writes there what the server answers. It is sent like any other text.

import { getJSON, post, session } from './api.js'
import { at, place } from './servers.js'

/** The prompts that can be typed, as commands; none where they cannot be asked for. */
export async function prompts() {
  const { prompts: all } = await getJSON(`/api/mcp/prompts?${place(session())}`).catch(() => ({ prompts: [] }))
  return all.map((p) => ({ name: `/${p.server}:${p.name}`, what: p.about ?? '', hint: p.arguments.map((a) => a.name).join(' '), icon: 'chip', end: p.server, does: (field, rest) => ask(field, p, rest) }))
    .filter((c) => /^\/[a-z][^\s/]*$/i.test(c.name))
}

const line = (a, given) => `${a.name}${a.required ? '' : ' (may stay empty)'}: ${given[a.name] ?? ''}`
const value = (text, { name }) => text.split('\n').find((l) => l.startsWith(`${name}:`) || l.startsWith(`${name} (`))?.replace(/^[^:]*:/, '').trim()

function write(field, text) {
  field.value = text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  const free = text.search(/: (?=\n|$)/)
  if (free >= 0) field.setSelectionRange(free + 2, free + 2)
}

async function ask(field, p, rest) {
  const given = Object.fromEntries(p.arguments.map((a) => [a.name, value(rest, a)]).filter(([, v]) => v))
  const missing = p.arguments.some((a) => a.required && !given[a.name]) || (!rest && p.arguments.length)
  if (missing) write(field, `/${p.server}:${p.name}\n${p.arguments.map((a) => line(a, given)).join('\n')}`)
  else {
    const { text } = await post(`${at(p.server, 'prompt')}?${place(session())}`, { name: p.name, arguments: given })
    write(field, /^[/!]/.test(text) ? ` ${text}` : text) // else it would be a command
  }
  return 'stays'
}
