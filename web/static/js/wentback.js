// Going back to an earlier prompt begins at its buttons, and is taken back by the row that says it
// happened, or by Ctrl Z in an empty composer until the next prompt.

import { holdKeys } from './hold.js'
import { announce } from './announce.js'
import { path, post } from './api.js'
import { failed } from './toast.js'

async function again(b) {
  b.disabled = true
  try {
    const { kept } = await post(path('/rewind/undo'), {})
    announce(kept.length ? `Everything is back but for ${kept.map((f) => f.path).join(', ')}` : 'Everything is back')
  } finally {
    b.disabled = false
  }
}

/** The button of what was done last, if no prompt came since. */
function last() {
  const b = [...document.querySelectorAll('#turns [data-act=back-again]')].at(-1)
  let turn = b?.closest('.turn').nextElementSibling
  while (turn?.matches('[data-look]')) turn = turn.nextElementSibling
  return turn ? null : b
}

export function wentBack() {
  const turns = document.getElementById('turns')
  if (!turns) return
  turns.addEventListener('click', (e) => {
    const b = e.target.closest('[data-act=back], [data-act=back-again]')
    if (b?.dataset.act === 'back') holdKeys(import('./goback.js').then((m) => m.openBack(b)).catch(failed))
    else if (b) again(b).catch(failed)
  })
  document.getElementById('prompt')?.addEventListener('keydown', (e) => {
    if (e.key !== 'z' || e.shiftKey || e.altKey || !(e.ctrlKey || e.metaKey) || e.target.value) return
    const b = last()
    if (!b || b.disabled) return
    e.preventDefault()
    again(b).catch(failed)
  })
}
