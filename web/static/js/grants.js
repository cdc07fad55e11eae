// What else a question lets be allowed, below what it is about.

import { hold } from './ready.js'

/** Opens what else may be allowed, or closes it; none of it can be pressed at once. */
export function more(el, open) {
  el.toggleAttribute('data-grants', open)
  el.querySelector('.grants-of, .grants')?.toggleAttribute('hidden', !open) // on a phone also without one
  el.querySelector('[data-act=ways]').setAttribute('aria-expanded', String(open))
  hold(el)
  el.focus({ preventScroll: true })
  if (open) el.querySelector('.perm-do').scrollIntoView({ block: 'nearest' })
}
