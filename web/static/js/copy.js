// A copy button on code blocks of answers, put there when one is pointed at or
// focused.

import { clone } from './html.js'
import { done, failed, toast } from './toast.js'

function offer(e) {
  const block = e.target.closest?.('.said pre')
  if (!block || block.querySelector('.copy-code')) return
  const { root } = clone('tpl-copy')
  root.addEventListener('click', () => {
    const text = (block.querySelector('code') ?? block).textContent
    navigator.clipboard.writeText(text).then(() => {
      done(root)
      toast(`Copied ${text.trimEnd().split('\n').length} lines`)
    }).catch(failed)
  })
  block.append(root)
}

export function copying() {
  document.addEventListener('pointerover', offer)
  document.addEventListener('focusin', offer)
}
