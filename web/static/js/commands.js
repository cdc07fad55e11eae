// What a line in the composer means. /show, /run, /image and ! are the user's
// own acts: they go to the display route and call no model. The menu offers commands in groups, by what
// they cost.

import { keyName } from './fingers.js'
import { showsBest, tools } from './tables.js'

export const groups = { free: 'Only you see the result', agent: 'Goes to the agent', session: 'This session' }

export const commands = [
  ...[...tools.values()].filter((t) => t.command).map((t) => ({ ...t.command, tool: t.name, group: 'free' })),
  { name: '/find', hint: '', what: 'text in every file', icon: 'search', group: 'free', end: keyName('Ctrl ⇧ F') },
  { name: '/review', hint: '', what: 'what the agent changed', icon: 'diff', group: 'free' },
  { name: '/title', hint: 'TEXT', what: 'name this session', icon: 'pen', group: 'session' },
  { name: '/model', hint: 'NAME', what: 'choose the agent or model', icon: 'chip', group: 'session' },
  { name: '/stop', hint: '', what: 'end this turn', icon: 'stop', group: 'session', end: keyName('Ctrl .') },
  { name: '/permissions', hint: '', what: 'what agents may do', icon: 'shield', group: 'session' },
  { name: '/mcp', hint: '', what: 'the MCP servers of your agents', icon: 'chip', group: 'session' },
  { name: '/hooks', hint: '', what: 'your hooks', icon: 'hook', group: 'session' },
  { name: '/export', hint: '', what: 'this session as a file: md, html or jsonl', icon: 'down', group: 'session' },
  { name: '/replay', hint: '', what: 'step through this session', icon: 'play', group: 'session' },
  { name: '/help', hint: '', what: 'all keys and commands', icon: 'slash', group: 'session' },
]

const lines = /^(.*?)(?::(\d+)(?:-(\d+))?|\s+lines?\s+(\d+)\s*-\s*(\d+))$/i

/** A path with an optional range: "go.mod:3-9", "go.mod lines 3-9". */
export function range(text) {
  const m = lines.exec(text)
  if (!m || !m[1]) return { path: text }
  const from = Number(m[2] ?? m[4])
  return { path: m[1].trim(), startLine: from, endLine: Number(m[3] ?? m[5] ?? from) }
}

const [file] = tools.keys()

/** The call that shows what range() read: a picture by its name, unless lines of it are asked for. */
export function showing(wish) {
  const best = showsBest(wish.path)
  if (!wish.startLine && best !== file) return { tool: best, arguments: { path: wish.path } }
  return { tool: file, arguments: wish }
}

const args = (takes, text) => (takes === 'range' ? range(text) : { [takes]: text })

/**
 * Says what to do with a line: {display: {tool, arguments}}, {act, rest},
 * {unknown, nearest} or {prompt}. A leading space or a second slash sends the
 * text as it is.
 */
export function parse(text) {
  if (text.startsWith('!') && text.length > 1) return { display: { tool: 'run_and_display', arguments: { command: text.slice(1).trim() } } }
  if (text.startsWith('//')) return { prompt: text.slice(1) }
  if (!/^\/[a-z]/i.test(text)) return { prompt: text.trim() }
  const [word] = text.split(/\s/, 1)
  const rest = text.slice(word.length).trim()
  const c = commands.find((c) => c.name === word.toLowerCase())
  if (!c && word.indexOf('/', 1) > 0) return { prompt: text } // a path
  if (!c) return { unknown: word, nearest: nearest(word) }
  if (c.hint && !rest) return { missing: c }
  if (!c.tool) return { act: c.name, rest }
  const given = args(c.takes, rest)
  return { display: c.takes === 'range' ? showing(given) : { tool: c.tool, arguments: given } }
}

/** The command whose beginning word is, else the one it is a slip of. */
function nearest(word) {
  const begun = commands.find((c) => c.name.startsWith(word.toLowerCase()))
  if (begun) return begun.name
  const d = commands.map((c) => [distance(word.toLowerCase(), c.name), c.name]).sort((a, b) => a[0] - b[0])
  return d[0][0] <= 3 ? d[0][1] : ''
}

/** Edits from a to b, a swap of neighbours counting as one. */
function distance(a, b) {
  const d = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array(b.length).fill(0)])
  for (let j = 0; j <= b.length; j++) d[0][j] = j
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1)
    }
  }
  return d[a.length][b.length]
}
