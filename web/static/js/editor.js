// Opens what a pane shows in the user's editor, at the address that the configuration
// names for it. Without one there is no button, and the key does nothing.

import { selection } from './select.js'
import { viewerOf } from './viewer.js'

/** A path as it stands in an address. */
const escaped = (path) => encodeURI(path.replaceAll('\\', '/').replace(/^(?!\/)/, '/')).replace(/[?#]/g, encodeURIComponent)

export function edit(pane) {
  const { editor, folder } = document.body.dataset
  const { name, kind } = pane.dataset
  if (!editor || kind === 'terminal') return
  const path = /^([a-z]:)?[\\/]/i.test(name) ? name : `${folder}/${name.replace(/^\.\//, '')}`
  const a = document.createElement('a')
  a.href = editor.replaceAll('{path}', () => escaped(path)).replaceAll('{line}', selection(pane)?.from ?? viewerOf(pane)?.seen.from ?? 1)
  document.body.append(a)
  a.click()
  a.remove()
}

export function editing() {
  document.addEventListener('click', (e) => {
    const pane = e.target.closest?.('[data-act=editor]')?.closest('[data-pane]')
    if (pane) edit(pane)
  })
}
