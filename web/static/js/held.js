// What an agent made and is held: it is looked at on the Desk, and kept once its end was in view.

import { getJSON, path, post } from './api.js'
import { announce } from './announce.js'
import { isShown } from './desk.js'
import { display } from './display.js'
import { saw } from './ready.js'
import { failed, toast } from './toast.js'
import { viewerOf } from './viewer.js'

const looks = new Map() // output → the requests it shows
const question = (request) => document.querySelector(`#dock-asks [data-request="${CSS.escape(request)}"][data-held]`)

/** Opens what a question is about on the Desk. No model is involved. */
export async function look(el) {
  try {
    const shown = await display({ tool: 'show_held', arguments: { held: el.dataset.held, path: el.dataset.path } })
    if (!shown.output) return toast(shown.error?.message ?? 'It could not be shown', { how: 'ask' })
    looks.set(shown.output.id, el.dataset.request)
    if (!isShown()) document.dispatchEvent(new CustomEvent('webchat:open', { detail: { target: shown.output.id } })) // its end has to come into view
    document.querySelectorAll(`[data-pane][data-output="${CSS.escape(shown.output.id)}"]`).forEach(ended)
    names(el)
  } catch (err) { failed(err) }
}

/** Says under which name it would be kept where its own is taken. */
async function names(el) {
  const { places } = await getJSON(path(`/places?name=${encodeURIComponent(el.dataset.path)}`)).catch(() => ({}))
  const words = el.querySelector('[data-keep]')
  if (words && places?.[el.dataset.path]) words.textContent = `Keep as ${el.dataset.path.split('/').pop()}.new`
}

/** Looks at the next of several that was not seen. */
export function next(els) {
  const el = els.find((one) => !('read' in one.dataset)) ?? els[0]
  if (el) look(el)
}

/** The end of what a pane shows was in view: its question may be answered. */
function ended(pane) {
  const request = looks.get(pane.dataset.output)
  const el = request && question(request)
  if (!el || document.hidden || !pane.checkVisibility()) return
  const v = viewerOf(pane)
  if (v && v.total > 0 && (v.seen.to < v.last || !v.block(v.total - 1).rows)) return
  if (!v && pane.dataset.kind === 'file') return // its rows are to come
  if ('read' in el.dataset) return
  saw(el)
  announce('You have seen all of it')
}

export const held = () => {
  const see = (e) => e.target.matches?.('[data-pane]') && ended(e.target)
  document.addEventListener('webchat:lines', see, true)
  document.addEventListener('webchat:touched', see)
}

/** Says what was decided, which can be taken back. */
export function answered(el, { decision }) {
  const { request, path: name } = el.dataset
  toast(`${decision === 'allow' ? 'Kept' : 'Deleted'} ${name}`, { act: { label: 'Undo', run: () => again({ dataset: { request } }) } })
}

/** Takes back what was decided. */
export const again = (b) => post(path(`/permissions/${b.dataset.request}/again`)).catch((err) => {
  if (err.status === 410) toast('It is no longer there as it was, so it cannot be held again', { how: 'ask' })
  else failed(err)
})
