// The Desk as a sheet over the conversation, where the window is narrow: the browser's
// way back and a swipe from the left edge close it, and the conversation stands where
// it stood.

import { sheet } from './desk.js'

const edge = 32 // pixels from the left in which a swipe begins
const far = 72 // pixels that it goes at least

const app = document.getElementById('app')
const shown = () => app.classList.contains('sheet')
let pushed = false // the way back leads out of the sheet
let leaving = false // the address that comes back is not asked for

function changed() {
  if (shown() && !pushed) {
    history.replaceState({ under: true }, '') // an address with a fragment comes by the same event, and is no way back
    history.pushState(null, '')
    pushed = true
  } else if (!shown() && pushed) {
    pushed = false
    history.back()
  }
}

function back(e) {
  if (!e.state?.under) return
  leaving = true
  setTimeout(() => { leaving = false })
  if (!pushed) return
  pushed = false
  sheet(false)
}

function swipe(start) {
  const [from] = start.touches
  if (start.touches.length > 1 || from.clientX > edge || !shown()) return
  document.addEventListener('touchend', (end) => {
    const [to] = end.changedTouches
    if (to.clientX - from.clientX >= far && Math.abs(to.clientY - from.clientY) < far) sheet(false)
  }, { once: true })
}

export function sheets() {
  if (!app || !document.getElementById('desk')) return
  document.addEventListener('webchat:sheet', changed)
  addEventListener('popstate', back)
  addEventListener('hashchange', (e) => { if (leaving) e.stopImmediatePropagation() }, true)
  document.getElementById('desk').addEventListener('touchstart', swipe, { passive: true })
}
