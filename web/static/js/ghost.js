// Pointing without handing over: the composer offers to say what is looked at. Only the
// name and the numbers of the lines go with the prompt, and only if it is taken.

import { isShown } from './desk.js'
import { paneOf } from './pane.js'
import { selection } from './select.js'
import { reading } from './tabs.js'
import { viewerOf } from './viewer.js'

const wait = 200 // milliseconds after the last change of what is looked at
const chips = document.getElementById('chips')
const ghost = document.getElementById('ghost')
const composer = document.getElementById('composer')
const taken = new Set() // outputs that are named already

/** What is looked at: {label, attachment}; null if nothing is, or it goes with the prompt. */
function looked() {
  const pane = paneOf(reading()?.key)
  const { output, state, base } = pane?.dataset ?? {}
  const { backend, noModel } = composer.dataset
  if (noModel.split(' ').includes(backend) || composer.hasAttribute('data-looks')) return null // nothing is sent that could name it
  if (!isShown() || state !== 'done' || !output || pane.dataset.given || taken.has(output) || chips.querySelector(`[data-of="${CSS.escape(output)}"]`)) return null
  const v = viewerOf(pane)
  const lines = selection(pane) ?? (v && !v.code.hidden && v.total > v.screen ? v.seen : null)
  const numbers = lines && `${lines.from}${lines.to > lines.from ? `-${lines.to}` : ''}`
  return { label: `looking at ${base}${numbers ? `:${numbers.replace('-', '–')}` : ''}`, attachment: { outputId: output, name: base, mention: true, lines: numbers || undefined } }
}

function paint() {
  const what = looked()
  ghost.hidden = !what
  if (what) ghost.querySelector('[data-label]').textContent = what.label
}

/** Lets the prompt name what is looked at. */
function take() {
  const what = looked()
  if (!what) return
  const { outputId } = what.attachment
  taken.add(outputId)
  document.dispatchEvent(new CustomEvent('webchat:attach', { detail: { ...what, onRemove: () => { taken.delete(outputId); paint() } } }))
  paint()
  document.getElementById('prompt').focus()
}

export function ghosts() {
  if (!ghost) return
  let timer = 0
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(paint, wait)
  }
  for (const name of ['webchat:lines', 'webchat:pane', 'webchat:given', 'webchat:chosen', 'webchat:frame']) document.addEventListener(name, soon, true)
  chips.addEventListener('change', soon)
  ghost.addEventListener('click', take)
  document.addEventListener('webchat:mention', take)
}
