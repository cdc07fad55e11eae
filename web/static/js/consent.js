// What agents may do, as /permissions and /hooks show it.

import { getText, session } from './api.js'
import { fragment } from './html.js'

const dialog = document.getElementById('consent')

/** Opens the dialog at one of its parts: permissions or hooks. */
export async function consent(part) {
  const html = await getText(`/consent?session=${encodeURIComponent(session())}`)
  dialog.querySelector('[data-place]').replaceChildren(fragment(html))
  if (!dialog.open) dialog.showModal()
  document.getElementById(`consent-${part}`)?.scrollIntoView({ block: 'nearest' })
}
