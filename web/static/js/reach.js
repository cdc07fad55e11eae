// Links to what stands in a turn that is not in the page: earlier turns are loaded
// until it is there.

import { unfold } from './more.js'
import { failed } from './toast.js'

const most = 100 // times that earlier turns are loaded for one link

/** The id a fragment leads to: "c-1", or "c-1" of "L3-L9@c-1". */
const idIn = (hash) => decodeURIComponent(hash).replace(/^#(L\d+(-L?\d+)?@)?/, '')

const ofATurn = (id) => /^[cdhmprt]-/.test(id)

/** Loads earlier turns until the element is there; null if it is in none of them. */
async function reach(id) {
  const { load } = await import('./older.js')
  for (let i = 0; i < most; i++) {
    const el = document.getElementById(id)
    const link = document.querySelector('#earlier a[data-earlier]')
    if (el || !link) return el
    ;(await load(link.href))(document)
  }
  return null
}

async function go() {
  const id = idIn(location.hash)
  if (!ofATurn(id)) return
  const here = document.getElementById(id)
  if (here) return unfold(here)
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
