// What was said to an agent elsewhere, such as in a terminal: a session goes on with it.

import { folder, getJSON, post } from './api.js'
import { visit } from './base.js'
import * as menu from './menu.js'
import { failed } from './toast.js'

const day = (at) => (at.startsWith('0001') ? '' : new Date(at).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }))

/** Lists what an agent remembers of this folder, and goes on with what is chosen. */
export async function resume(field, backend) {
  const workspace = folder() || undefined
  const find = async (signal) => {
    const { conversations: all } = await getJSON(`/api/conversations?${new URLSearchParams({ backend, ...(workspace && { workspace }) })}`, { signal })
    const items = all.map((c) => ({ label: c.title, note: day(c.updatedAt), icon: 'chip', end: backend, id: c.id }))
    return items.length ? items : [{ label: 'No conversations', note: `${backend} had none in this folder outside of webchat`, icon: 'chip' }]
  }
  await menu.ask(find, field, async ({ id }) => {
    if (!id) return
    try {
      visit(`/sessions/${(await post('/api/sessions', { workspace, backend, conversation: id })).id}`)
    } catch (err) { failed(err) }
  }, { label: `Asking ${backend} for its conversations …`, icon: 'chip' })
}
