// What the sandbox refused a call: a row below it offers to open that, to run the command once
// outside, or to leave it. Opening runs nothing; what was opened goes with the next prompt as a chip.

import { getJSON, path, post } from './api.js'
import { announce } from './announce.js'
import { addLines } from './attach.js'
import { failed } from './toast.js'

const turns = document.getElementById('turns')
const left = new Set(JSON.parse(sessionStorage.getItem('webchat.left') ?? '[]')) // ids of rows

/** Says in the place of the offers what came of them. */
function say(row, text) {
  const offers = row.querySelector('[data-part=offers]')
  offers.replaceChildren(text)
  offers.classList.add('said-instead')
}

async function open(row, button) {
  const { open: what, name, text } = button.dataset
  const kind = row.dataset.kind
  try {
    await post(path('/opened'), { kind, what, scope: 'session', readOnly: kind === 'path' && !('write' in row.dataset) })
  } catch (e) {
    return say(row, e.message)
  }
  const { tokens } = await addLines({ label: `${name} is open`, name: `what is open`, text, icon: '#i-lock' })
  return announce(`${name} is open. That goes with your next prompt, ${tokens} tokens`)
}

/** Runs the command outside, once the question about it was answered; what it prints is a chip. */
async function outside(row) {
  const reply = await post(path(`/refused/${encodeURIComponent(row.dataset.call)}/outside`), {}).catch(failed)
  if (!reply?.output) return
  const { id } = reply.output
  const { tokens } = await getJSON(`/api/outputs/${id}?tokens`).catch(() => ({ tokens: 0 })) // it goes without a price
  const detail = { label: 'what it printed outside', cost: tokens, attachment: { outputId: id, name: 'what it printed outside' } }
  document.dispatchEvent(new CustomEvent('webchat:attach', { detail }))
}

function leave(row) {
  left.add(row.id)
  sessionStorage.setItem('webchat.left', JSON.stringify([...left].slice(-200)))
  hide()
  document.getElementById('prompt').focus()
}

function hide() {
  for (const id of left) document.getElementById(id)?.setAttribute('hidden', '')
}

function press(button) {
  const row = button.closest('[data-refusal]')
  if ('open' in button.dataset) return open(row, button)
  if ('outside' in button.dataset) return outside(row)
  return leave(row)
}

export function refusing() {
  if (!turns) return
  hide()
  document.addEventListener('webchat:frame', hide)
  turns.addEventListener('click', (e) => {
    const button = e.target.closest('.offer')
    if (button) press(button)
  })
  turns.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || e.key.length > 1) return
    const button = e.target.closest('[data-refusal]')?.querySelector(`.offer[data-key="${CSS.escape(e.key.toLowerCase())}"]`)
    if (!button) return
    e.preventDefault()
    e.stopPropagation()
    press(button)
  })
}
