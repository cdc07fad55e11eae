// The list of sessions in a narrow window: a drawer over the page, which is a
// dialog while it is out. What is behind it can be neither reached nor read.

const app = document.getElementById('app')
const side = document.getElementById('side')
/** The list of sessions as a drawer. */
const list = {
  before: null, // what had the focus
}

export const isOut = () => app?.classList.contains('drawer') ?? false

function behind(inert) {
  for (const el of [...app.children, ...document.querySelectorAll('.skip')]) if (el !== side && el.id !== 'toasts') el.inert = inert
}

/** Pulls the drawer out, or pushes it back; it answers whether it is out. */
export function drawer(out) {
  if (out === isOut()) return out
  if (out) list.before = document.activeElement
  app.classList.toggle('drawer', out)
  side.setAttribute('role', out ? 'dialog' : 'navigation')
  if (out) side.setAttribute('aria-modal', 'true')
  else side.removeAttribute('aria-modal')
  behind(out)
  if (out) side.querySelector('a, button').focus()
  else {
    const back = list.before?.isConnected && list.before !== document.body ? list.before : document.querySelector('#bar [data-act=side]')
    back?.focus({ preventScroll: true })
  }
  return out
}
