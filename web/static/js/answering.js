// Sends answers to questions.

import { path, post } from './api.js'
import { holdKeys } from './hold.js'
import { answered } from './held.js'
import { failed, toast } from './toast.js'

/** How a question was answered, as its row says, if that has come. */
function verdict(el) {
  const words = document.getElementById(el.dataset.row)?.dataset.answered
  return words ? `: ${words}` : ''
}

/** Sends the answer to a question, which stands in what is shown. It stays busy until it is taken away, unless it has to be answered again. */
export function send(el, body, shown = el) {
  if (el.ariaBusy === 'true') return null
  el.ariaBusy = 'true'
  const sent = deliver(el, body)
  if (shown.contains(document.activeElement)) holdKeys(sent.then(() => gone(el))) // keys are for what gets the focus then
  return sent
}

/** Is over when a question has gone, and something else has the focus; or when it has to be answered again. */
function gone(el) {
  return new Promise((done) => {
    const look = () => (el.ariaBusy === 'true' && (el.isConnected || document.activeElement === document.body) ? setTimeout(look, 20) : done())
    look()
  })
}

async function deliver(el, body) {
  try {
    await post(path(`/permissions/${el.dataset.request}`), body)
    if (el.dataset.held) answered(el, body)
  } catch (err) {
    if (err.status === 409) toast(`Already answered${verdict(el)}`, { how: 'ask' })
    else if (err.status === 410) toast('This question is closed. Nothing was done', { how: 'ask' })
    else {
      el.ariaBusy = 'false'
      failed(err)
    }
  }
}
