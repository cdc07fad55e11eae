// Short words in the corner. At most three at a time; those that ask stay until
// they are answered.

import { clone } from './html.js'
import { announce } from './announce.js'

const most = 3

/** Shows words for four seconds, or until act.run was called by its button; returns what takes them away, and has others in their place by say. */
export function toast(words, { act, how = '', stay = false, ms = 4000 } = {}) {
  const at = document.getElementById('toasts')
  if (!at) return Object.assign(() => {}, { say() {} })
  const { root, parts } = clone('tpl-toast')
  if (how) root.dataset.how = how
  parts.text.textContent = words
  const gone = () => root.remove()
  if (act) {
    parts.do.hidden = false
    parts.do.textContent = act.label
    parts.do.addEventListener('click', () => { gone(); act.run() })
  }
  root.querySelector('[data-act=dismiss]').addEventListener('click', gone)
  for (const old of [...at.children]) if (old.querySelector('[data-part=text]').textContent === words) old.remove()
  at.append(root)
  while (at.children.length > most) at.firstElementChild.remove()
  announce(words)
  if (!stay) {
    let timer = setTimeout(gone, ms)
    root.addEventListener('pointerenter', () => clearTimeout(timer))
    root.addEventListener('pointerleave', () => { timer = setTimeout(gone, ms) })
  }
  return Object.assign(gone, { say: (now) => { parts.text.textContent = now } })
}

const marks = new WeakMap() // button → what takes its mark away

/** Marks the button whose work is done, for two seconds. */
export function done(button) {
  if (!button) return
  clearTimeout(marks.get(button))
  button.classList.add('is-done')
  marks.set(button, setTimeout(() => button.classList.remove('is-done'), 2000))
}

/** Says what was refused. */
export function failed(err) {
  if (err?.name !== 'AbortError') toast(err.message, { how: 'fail', ms: 8000 })
}
