// What agents may do, as /permissions and /hooks show it.

import { getText, remove, session } from './api.js'
import { fragment } from './html.js'
import { toast } from './toast.js'

const dialog = document.getElementById('consent')
const place = dialog?.querySelector('[data-place]')
const query = () => `?session=${encodeURIComponent(session())}`

async function fill() {
  place.replaceChildren(fragment(await getText(`/consent${query()}`)))
}

/** Opens the dialog at one of its parts: permissions or hooks. */
export async function consent(part) {
  await fill()
  if (!dialog.open) dialog.showModal()
  document.getElementById(`consent-${part}`)?.scrollIntoView({ block: 'nearest' })
}

dialog?.addEventListener('click', async (e) => {
  const button = e.target.closest('[data-take-back]')
  if (!button) return
  button.disabled = true
  try {
    await remove(`/api/permissions/${encodeURIComponent(button.dataset.takeBack)}${query()}`)
    toast('Revoked. You will be asked again.')
  } catch (err) {
    if (err.status !== 404) { // another window was first
      button.disabled = false
      toast(err.message, { how: 'fail' })
      return
    }
  }
  await fill()
})
