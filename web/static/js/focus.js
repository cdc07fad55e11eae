// The focus always rests on something that has a name. When what had it goes, or goes
// out of sight, the next question gets it, or what is read on the Desk or in the
// conversation, or the composer: the place where it was last.

import { enter, isShown, view } from './desk.js'
import { lettersAreKeys, pointed, typing } from './typing.js'

const coarse = matchMedia('(pointer: coarse)') // where a field that gets the focus opens the keyboard
const scroller = document.getElementById('scroll')
/** Where the focus was, and what letters were there. */
const where = {
  last: null, // what had the focus
  inQuestion: false,
  onDesk: false,
  wereKeys: false, // letters were keys there
  soon: 0,
}

const rests = (el) => Boolean(el?.isConnected && el !== document.body && !el.disabled && el.checkVisibility({ visibilityProperty: true }) && !el.closest('[inert]'))

/** Where letters are keys: what is read, on the Desk or else in the conversation. */
export function toKeys() {
  if (isShown()) enter()
  else scroller.focus({ preventScroll: true })
  lettersAreKeys() // also where a click had put the focus
}

/** Where the focus goes when what had it is gone. */
function home() {
  const dialog = document.querySelector('dialog:modal')
  if (dialog) return dialog
  if (rests(where.last)) return where.last // a click beside everything
  const question = where.inQuestion && !pointed() && [...document.querySelectorAll('#dock-asks :is([data-ask], [data-several])')].find(rests)
  if (question) return question
  const field = document.getElementById('prompt')
  if (!where.inQuestion && isShown() && (where.onDesk || where.wereKeys)) return view()
  return coarse.matches || (where.wereKeys && !where.inQuestion) || !rests(field) ? scroller : field
}

function rest() {
  where.soon = 0
  if (rests(document.activeElement)) where.last = document.activeElement // also what had the focus before this began
  else home()?.focus({ preventScroll: true })
}

/** Looks after what the browser does by itself: what is out of sight has lost the focus by then. */
const look = () => { where.soon ||= requestAnimationFrame(() => setTimeout(rest)) }

export function resting() {
  if (!scroller) return
  document.addEventListener('webchat:leave', toKeys)
  document.addEventListener('focusin', ({ target }) => {
    where.last = target
    if (target.closest('dialog, [popover], [role=menu]')) return // it lies over where the focus was
    where.inQuestion = Boolean(target.closest('#dock-asks'))
    where.onDesk = Boolean(target.closest('#desk'))
    where.wereKeys = !pointed() && !typing(target)
  })
  document.addEventListener('pointerup', look)
  for (const type of ['toggle', 'close']) document.addEventListener(type, look, true)
  new MutationObserver(() => { if (!where.soon && (document.activeElement === document.body || !where.last?.isConnected)) look() })
    .observe(document.body, { childList: true, subtree: true, attributeFilter: ['hidden', 'class', 'inert', 'disabled'] })
}
