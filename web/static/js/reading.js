// Windows of the views that the server makes of an output.

import { get } from './api.js'
import { fragment } from './html.js'
import { views } from './tables.js'

/** How many rows of a view are read at once. */
export const rowsOf = (view) => views.get(view)?.rows

/** Rows of a view: {head, from, to, total, html}; of is another output than the pane's, extra more of the query. */
export async function ask(pane, view, from, count, { of = pane.dataset.output, extra = '' } = {}) {
  const reply = await get(`/api/outputs/${of}?format=html&view=${view}&from=${from}&rows=${count}${extra}`)
  const [, a, b, total] = /(\d+)-(-?\d+)\/(\d+)/.exec(reply.headers.get('Webchat-Rows')) ?? []
  return { head: reply.headers, from: Number(a), to: Number(b), total: Number(total), html: fragment(await reply.text()) }
}
