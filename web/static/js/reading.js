// Windows of the views that the server makes of an output.

import { get } from './api.js'
import { fragment } from './html.js'
import { views } from './tables.js'

/** How many rows of a view are read at once. */
export const rowsOf = (view) => views.get(view)?.rows

/** What came with a pane of an output: the head of its first view, and the first rows of that, once. */
export const came = (pane) => {
  const box = pane.querySelector(':scope > template[data-first]')
  if (!box) return null
  const head = new Headers(JSON.parse(box.dataset.first))
  const rows = (view) => {
    if (view !== head.get('Webchat-View') || !box.content.hasChildNodes()) return null
    const all = document.createDocumentFragment()
    all.append(...box.content.childNodes)
    return all
  }
  return { head, rows }
}

/** Rows of a view: {head, from, to, total, html}; of is another output than the pane's, extra more of the query. */
export async function ask(pane, view, from, count, { of = pane.dataset.output, extra = '' } = {}) {
  const first = from === 1 && !extra && of === pane.dataset.output && came(pane)
  if (first && view === 'default') return first
  const rows = first && first.rows(view)
  if (rows) return rowsIn(first.head, rows)
  const reply = await get(`/api/outputs/${of}?format=html&view=${view}&from=${from}&rows=${count}${extra}`)
  return rowsIn(reply.headers, fragment(await reply.text()))
}

function rowsIn(head, html) {
  const [, a, b, total] = /(\d+)-(-?\d+)\/(\d+)/.exec(head.get('Webchat-Rows')) ?? []
  return { head, from: Number(a), to: Number(b), total: Number(total), html }
}
