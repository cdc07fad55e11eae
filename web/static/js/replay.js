// A replay: the two panes follow the film. The server draws each moment; one is asked for at a time,
// and the newest wish is the next.

import './film.js'
import { getText, path, post, session } from './api.js'
import { visit } from './base.js'
import { fragment } from './html.js'
import { folded } from './more.js'
import { failed } from './toast.js'

let wanted = null // {at, out}, until it is asked for
let busy = false
let at = Number(document.getElementById('moment')?.value ?? 1)

/** Puts a part of the page in its place, unless it is the same thing that stands there. */
function put(fresh) {
  const old = document.getElementById(fresh.id)
  const same = fresh.id === 'saw' && fresh.dataset.key && fresh.dataset.key === old.dataset.key
  if (same) { // its rows stay where they were scrolled to
    old.querySelector('.tabs').replaceWith(fresh.querySelector('.tabs'))
    return old.querySelector(':scope > footer').replaceWith(fresh.querySelector(':scope > footer'))
  }
  const inside = old.contains(document.activeElement) && document.activeElement
  old.replaceWith(fresh)
  if (inside) (inside.id && document.getElementById(inside.id) || fresh).focus({ preventScroll: true })
  ends()
}

/** The left pane ends where the moment is. */
function ends() {
  const held = document.getElementById('held-scroll')
  held.scrollTop = held.scrollHeight
}

async function follow() {
  if (busy) return
  busy = true
  try {
    while (wanted) {
      const { at, out } = wanted
      wanted = null
      const query = new URLSearchParams({ at, part: 'moment', ...(out && { out }) })
      const fresh = fragment(await getText(`/sessions/${session()}/replay?${query}`))
      for (const el of [...fresh.children]) put(el)
      history.replaceState(null, '', `?at=${at}`)
      document.body.dataset.at = at
    }
  } catch (err) {
    failed(err)
  }
  busy = false
}

const want = (out) => { wanted = { at, out }; follow() }

function leave() {
  if (globalThis.navigation?.canGoBack) return history.back()
  visit(`/sessions/${session()}`)
}

/** A session with everything up to the end of the turn of this moment. */
const goOn = async (messageId) => visit(`/sessions/${(await post(path('/branch'), { messageId })).id}`)

document.addEventListener('webchat:moment', (e) => { at = e.detail; want() })
document.addEventListener('click', (e) => {
  const el = e.target.closest?.('[data-out], [data-slip], [data-go], #leave')
  if (!el || e.ctrlKey || e.metaKey) return
  e.preventDefault()
  if (el.dataset.go) return goOn(el.dataset.go).catch(failed)
  if (el.id === 'leave') return leave()
  want(el.dataset.out ?? el.dataset.slip)
})
addEventListener('keydown', (e) => { if (e.key === 'Escape' && !e.defaultPrevented) leave() })
folded()
ends()
