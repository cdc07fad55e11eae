// The Desk as a sheet over the conversation, where the window is narrow: the browser's
// way back and a swipe from the left edge close it, and the conversation stands where
// it stood.

import { sheet } from './desk.js'
import { swipe } from './fingers.js'

const edge = 32 // pixels from the left in which a swipe begins

const app = document.getElementById('app')
const shown = () => app.classList.contains('sheet')
/** The way back in the browser's history. */
const way = {
  pushed: false, // the way back leads out of the sheet
  leaving: false, // the address that comes back is not asked for
}

function changed() {
  if (shown() && !way.pushed) {
    history.replaceState({ under: true }, '') // an address with a fragment comes by the same event, and is no way back
    history.pushState(null, '')
    way.pushed = true
  } else if (!shown() && way.pushed) {
    way.pushed = false
    history.back()
  }
}

function back(e) {
  if (!e.state?.under) return
  way.leaving = true
  setTimeout(() => { way.leaving = false })
  if (!way.pushed) return
  way.pushed = false
  sheet(false)
}

export function sheets() {
  if (!app || !document.getElementById('desk')) return
  document.addEventListener('webchat:sheet', changed)
  addEventListener('popstate', back)
  addEventListener('hashchange', (e) => { if (way.leaving) e.stopImmediatePropagation() }, true)
  swipe(document.getElementById('desk'), 1, (from) => from.clientX <= edge && shown(), () => sheet(false))
}
