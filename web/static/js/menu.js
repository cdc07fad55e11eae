// The listbox over the composer: commands, paths, models. The field keeps the
// focus; arrows move, Enter or Tab takes, Escape leaves.

import { clone } from './html.js'

const box = document.getElementById('menu')
let items = []
let at = -1
let take = null
let field = null

export const isOpen = () => items.length > 0

/** Shows choices [{label, note, free, same, value}] for a field; same: the field holds it already. */
export function open(choices, forField, onTake) {
  items = choices
  take = onTake
  field = forField
  if (!items.length) return close()
  box.replaceChildren(...items.map((item, i) => {
    const { root, parts } = clone('tpl-item')
    root.id = `menu-${i}`
    parts.name.textContent = item.label
    parts.about.textContent = item.note ?? ''
    parts.end.textContent = item.free ? 'no model' : item.end ?? ''
    parts.end.classList.toggle('seen', Boolean(item.free))
    if (item.icon) root.querySelector('use')?.setAttribute('href', `#i-${item.icon}`)
    root.addEventListener('pointerdown', (e) => { e.preventDefault(); choose(i) })
    return root
  }))
  box.hidden = false
  move(0)
}

export function close() {
  items = []
  at = -1
  box.hidden = true
  box.replaceChildren()
  field?.removeAttribute('aria-activedescendant')
}

function move(to) {
  at = (to + items.length) % items.length
  ;[...box.children].forEach((el, i) => el.setAttribute('aria-selected', String(i === at)))
  box.children[at].scrollIntoView({ block: 'nearest' })
  field.setAttribute('aria-activedescendant', box.children[at].id)
}

function choose(i) {
  const item = items[i]
  const f = take
  close()
  f(item)
}

/** Handles a key of the field; true means it was the menu's. */
export function key(e) {
  if (!isOpen()) return false
  if (e.key === 'ArrowDown') move(at + 1)
  else if (e.key === 'ArrowUp') move(at - 1)
  else if (e.key === 'Enter' && items[at].same) { // nothing left to complete: the line itself is meant
    close()
    return false
  } else if ((e.key === 'Enter' || e.key === 'Tab') && !e.shiftKey && !e.altKey && !e.isComposing) choose(at)
  else if (e.key === 'Escape') close()
  else return false
  e.preventDefault()
  e.stopPropagation()
  return true
}
