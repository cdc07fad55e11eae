// Resources of MCP servers: @SERVER: completes them, and attaches the one that is chosen, by its price.

import { getJSON, post, session } from './api.js'
import { addLines } from './attach.js'
import { at, place } from './servers.js'

/** What @text may mean: {label, note, icon, end, attach}; none of a text that names no server. */
export async function resources(text, signal) {
  const server = text.slice(0, text.indexOf(':'))
  const q = text.slice(server.length + 1).toLowerCase()
  const { resources: all } = await getJSON(`/api/mcp/resources?${place(session())}`, { signal })
  return all.filter((r) => r.server === server && `${r.name} ${r.uri}`.toLowerCase().includes(q)).slice(0, 50)
    .map((r) => ({ label: r.name, note: r.about || r.uri, icon: 'chip', end: r.server, attach: () => attach(r) }))
}

async function attach(r) {
  const { text } = await post(`${at(r.server, 'resource')}?${place(session())}`, { uri: r.uri })
  await addLines({ label: `${r.server}: ${r.name}`, text, icon: '#i-read' })
}
