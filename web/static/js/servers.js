// /mcp: the MCP servers of the user's agents, what their tools add to each call of a model, and
// what of them is off, for the session or the workspace.

import { folder, getJSON, post, session } from './api.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

const tokens = (n) => `${n.toLocaleString('en')} ${n === 1 ? 'token' : 'tokens'}`
export const place = (here) => (here ? `session=${encodeURIComponent(session())}` : `workspace=${encodeURIComponent(folder())}`)
const find = async (signal) => getJSON(`/api/mcp?${place(session())}`, { signal })
export const at = (server, what) => `/api/mcp/${encodeURIComponent(server)}/${what}`
const cost = (s) => s.tools.reduce((n, t) => n + (t.off ? 0 : t.tokens), 0)
const off = (what) => what.off && `off for the ${what.off}`
const ends = { ready: (s) => off(s) || tokens(cost(s)), changed: () => 'allow it' }

/** Does what was chosen, then lists again. */
const then = (does, again) => async () => { await does(); await again() }
const take = ({ go }) => Promise.resolve(go?.()).catch(failed)

/** Lists the servers. */
export const servers = (field) => menu.ask(async (signal) => {
  const { servers: list, dear } = await find(signal)
  const rows = list.map((s) => ({
    label: s.name,
    note: s.failure || s.tools.map((t) => t.shown).join(', ') || 'it has no tools',
    icon: s.state === 'ready' ? 'check' : 'alert',
    end: ends[s.state]?.(s) ?? 'does not answer',
    go: { changed: then(() => post(at(s.name, 'allow')), () => servers(field)), ready: () => tools(field, s.name) }[s.state],
  }))
  if (dear) rows.push({ label: 'Much in each call', note: dear, icon: 'alert' })
  return rows.length ? rows : [{ label: 'No MCP servers', note: 'Name them under mcpServers in config.yaml', icon: 'chip' }]
}, field, take)

/** Lists the tools of one, and it as a whole. */
const tools = (field, server) => menu.ask(async (signal) => {
  const s = (await find(signal)).servers.find((one) => one.name === server)
  const row = (what, tool, note, end) => ({ label: what.shown ?? 'All its tools', note, icon: what.off ? 'x' : 'check', end: off(what) || end, group: s.name, cost: s.type, go: () => turn(field, s.name, tool, what.off) })
  const says = Object.entries({ 'It logged': s.log, 'Its words for models, which get none': s.words }).filter(([, text]) => text)
  return [row(s, '', s.where, tokens(cost(s))), ...says.map(([label, note]) => ({ label, note, icon: 'plug', group: s.name })), ...s.tools.map((t) => row(t, t.name, '', tokens(t.tokens)))]
}, field, take)

/** Switches a tool on again, or off: for what, is asked in a session. */
async function turn(field, server, tool, now) {
  const set = (here, how) => then(() => post(`${at(server, 'switch')}?${place(here)}`, { tool, off: how }), () => tools(field, server))
  if (now) return set(now === 'session', false)()
  if (!session()) return set(false, true)()
  return menu.ask(async () => [
    { label: 'Off for this session', note: tool || server, icon: 'x', go: set(true, true) },
    { label: 'Off for this workspace', note: 'in all its sessions', icon: 'x', go: set(false, true) },
  ], field, take)
}
