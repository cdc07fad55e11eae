// Where typed letters go: into the composer, wherever the focus is, unless the focus
// was taken elsewhere by the keyboard. There they are keys. So nothing happens to
// somebody who clicks somewhere and then writes.

/** Where the last input came from. */
const input = {
  byPointer: false,
}

/** Whether the last input came from a pointer. */
export const pointed = () => input.byPointer

/** Whether what is typed there is text. */
export const typing = (el) => el?.matches?.('input, textarea, select, [contenteditable]') ?? false

const keysThere = (el) => el !== document.body && 'letters' in document.body.dataset

/** Lets letters be keys where the focus is. */
export const lettersAreKeys = () => keep(!typing(document.activeElement))

/** Notes it on the body: the ring is drawn only where letters are keys. */
function keep(keys) {
  document.body.toggleAttribute('data-letters', keys)
  document.body.toggleAttribute('data-pointed', input.byPointer && !keys)
}

function keydown(e) {
  input.byPointer = false
  const field = document.getElementById('prompt')
  if (!field || e.key.length !== 1 || e.key === ' ' || e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return
  if (keysThere(e.target) || document.querySelector('dialog[open]')) return
  document.dispatchEvent(new Event('webchat:compose'))
  field.focus({ preventScroll: true }) // and the letter goes there
  e.stopImmediatePropagation()
}

export function letters() {
  document.addEventListener('pointerdown', () => {
    input.byPointer = true
    keep(false)
  }, true)
  document.addEventListener('keydown', keydown, true)
  document.addEventListener('focusin', (e) => {
    keep(!input.byPointer && !typing(e.target))
  })
}
