// Links to what stands in a turn that is not in the page: earlier turns are loaded
// until it is there.

import { unfold } from './more.js'
import { failed } from './toast.js'

/** The id a fragment leads to: "c-1", or "c-1" of "L3-L9@c-1". */
const idIn = (hash) => decodeURIComponent(hash).replace(/^#(L\d+(-L?\d+)?@)?/, '')

const ofATurn = (id) => /^[cdhmprt]-/.test(id)

async function go() {
  const id = idIn(location.hash)
  if (!ofATurn(id)) return
  const here = document.getElementById(id)
  if (here) return unfold(here)
  const { reach } = await import('./older.js')
  const el = await reach(id)
  if (!el) return failed(new Error('That part of the session is no longer there.'))
  unfold(el)
  el.scrollIntoView()
  if (location.hash !== `#${id}`) dispatchEvent(new HashChangeEvent('hashchange')) // lines to be chosen in it
  const card = el.querySelector('[data-card]')
  card?.classList.add('is-now')
  setTimeout(() => card?.classList.remove('is-now'), 2000)
}

export function reaching() {
  if (!document.getElementById('turns')) return
  const late = () => go().catch(failed)
  addEventListener('hashchange', late)
  document.addEventListener('click', (e) => { // to where the address leads already
    if (e.target.closest?.('a[href^="#"]')?.hash === location.hash) late()
  })
  late()
}
