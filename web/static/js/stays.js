// What commands may do: a word in the foot of the composer, and its sheet, which is asked for when
// it is opened. What is opened meanwhile, or closed, shows in both.

import { above } from './above.js'
import { folder, getText, path, remove, session } from './api.js'
import { fragment } from './html.js'
import { failed, toast } from './toast.js'
import { copyCommand } from './ways.js'

const pop = document.getElementById('stays-pop')
const where = () => (session() ? `/sessions/${session()}/sandbox`
  : `/sandbox?workspace=${encodeURIComponent(folder())}&backend=${encodeURIComponent(document.getElementById('composer').dataset.backend)}`)

/** Asks for the sheet, and says in the foot what it says. */
async function fill() {
  const sheet = fragment(await getText(where()))
  const words = sheet.querySelector('[data-words]')?.dataset.words ?? ''
  const opened = document.getElementById('stays-opened')
  if (opened) opened.textContent = words
  document.getElementById('stays')?.toggleAttribute('data-saved', Boolean(sheet.querySelector('.now')))
  const held = pop.contains(document.activeElement) && (document.activeElement.dataset.close ?? 'sheet')
  pop.replaceChildren(sheet)
  if (held) (pop.querySelector(`[data-close="${held}"]`) ?? pop.querySelector('[data-act=stays]')).focus()
}

/** Shows the sheet, or takes it away. */
export function stays() {
  if (!document.getElementById('stays')) return toast('No agent runs here that could be confined')
  if (!pop.hidden) return above('stays-pop', 'stays')
  return fill().then(() => above('stays-pop', 'stays')).catch(failed)
}

async function shut(buttons) {
  for (const b of buttons) b.disabled = true
  await Promise.allSettled(buttons.map((b) => remove(path(`/opened/${b.dataset.close}`)))) // another window was first
  await fill()
}

const at = () => document.getElementById('stays-now')?.dataset.at

export function staying() {
  let seen = at()
  document.addEventListener('webchat:frame', () => {
    if (at() === seen) return
    seen = at()
    if (document.getElementById('stays')) fill().catch(failed)
  })
  document.addEventListener('click', (e) => {
    if (e.target.closest?.('[data-act=stays]')) stays()
  })
  pop?.addEventListener('click', (e) => {
    const copy = e.target.closest('[data-copy]')
    if (copy) copyCommand(copy)
    const one = e.target.closest('[data-close]')
    if (one) shut([one]).catch(failed)
    if (e.target.closest('[data-close-all]')) shut([...pop.querySelectorAll('[data-close]')]).catch(failed)
  })
}
