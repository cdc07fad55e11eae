// The listbox over the composer: commands, paths, models. The field keeps the focus:
// arrows choose, Enter takes what was chosen, Tab that or the first, Escape leaves.
//
// What is offered belongs to the text that stands in the field. When that changes, the
// composer closes the menu or asks anew, and an answer that comes after that is dropped.

import { clone } from './html.js'
import { holdKeys } from './hold.js'
import { asker } from './latest.js'

const box = document.getElementById('menu')
const question = asker()
const gap = 12 // pixels to the composer and to the edge of the window, together
/** The one menu of the page: what it offers, to which field. */
const offer = {
  items: [], // what can be taken now
  at: -1, // what the reader chose; -1: nothing
  take: null,
  field: null,
  coming: null, // the answer that is under way
  arrow: '', // which was pressed meanwhile; it counts when the answer is there
}

export const isOpen = () => offer.items.length > 0

function draw(choices) {
  let group = null
  box.replaceChildren()
  for (const [i, item] of choices.entries()) {
    if (item.group !== group?.ariaLabel && item.group) group = begin(item)
    const { root, parts } = clone('tpl-item')
    root.id = `menu-${i}`
    parts.name.textContent = item.label
    parts.about.textContent = item.note ?? ''
    parts.end.textContent = item.end ?? ''
    if (item.icon) root.querySelector('use')?.setAttribute('href', `#i-${item.icon}`)
    root.addEventListener('pointerdown', (e) => { e.preventDefault(); choose(i) })
    ;(group ?? box).append(root)
  }
  box.hidden = false
  fit()
}

/** A group of items with a heading: what they have in common, and what they cost. */
function begin(item) {
  const { root, parts } = clone('tpl-hits')
  root.ariaLabel = parts.name.textContent = item.group
  parts.count.textContent = item.cost ?? ''
  box.append(root)
  return root
}

const drawn = () => box.querySelectorAll('[role=option]')

/** Opens above the composer, or below it where there is more room, and never out of the window. */
function fit() {
  const { top } = box.offsetParent.getBoundingClientRect()
  const { bottom } = offer.field.form.getBoundingClientRect()
  const above = top - document.getElementById('scroll').getBoundingClientRect().top - gap
  const below = innerHeight - bottom - gap
  const down = above < box.scrollHeight && below > above
  box.classList.toggle('below', down)
  box.style.top = down ? `${bottom - top + gap / 2}px` : ''
  box.style.maxHeight = `${Math.min(innerHeight * .6, down ? below : above)}px`
}

/** Shows choices [{label, note, end, group, cost, value, whole}] for a field, those of a group one after the other. more: they are those that stand there, and more. first: what is typed; what it names is chosen, else the first. What is whole as it stands is left to Enter. */
export function open(choices, forField, onTake, { more = false, first = '' } = {}) {
  const chosen = more && offer.items[offer.at]?.label
  question.drop()
  offer.coming = null
  offer.items = choices
  offer.take = onTake
  offer.field = forField
  if (!offer.items.length) return close()
  draw(offer.items)
  if (chosen) mark(offer.items.findIndex((item) => item.label === chosen))
  else mark({ ArrowDown: 0, ArrowUp: offer.items.length - 1 }[offer.arrow] ?? (first ? Math.max(0, offer.items.findIndex((item) => item.label === first)) : -1))
  offer.arrow = ''
}

/**
 * Shows the choices that find(signal) answers, unless the menu is closed or has another
 * question by then. Until then nothing can be taken; what was offered before, or the words
 * that say what is waited for, can be seen.
 */
export function ask(find, forField, onTake, waiting) {
  const coming = answer(find, forField, onTake, waiting)
  offer.coming = coming.catch(() => {})
  return coming
}

async function answer(find, forField, onTake, waiting) {
  const signal = question.begin()
  offer.arrow = ''
  offer.items = []
  offer.field = forField
  if (waiting) draw([waiting])
  mark(-1)
  box.ariaBusy = 'true'
  try {
    const choices = await find(signal)
    if (!signal.aborted) open(choices, forField, onTake)
  } catch (err) {
    if (signal.aborted) return
    close()
    throw err
  }
}

export function close() {
  question.drop()
  offer.coming = null
  offer.arrow = ''
  offer.items = []
  offer.at = -1
  box.hidden = true
  box.replaceChildren()
  offer.field?.removeAttribute('aria-activedescendant')
}

function mark(to) {
  offer.at = to
  drawn().forEach((el, i) => el.setAttribute('aria-selected', String(i === offer.at)))
  box.ariaBusy = 'false'
  const now = drawn()[offer.at]
  if (offer.at === 0) box.scrollTop = 0 // with its heading
  else now?.scrollIntoView({ block: 'nearest' })
  if (now) offer.field.setAttribute('aria-activedescendant', now.id)
  else offer.field.removeAttribute('aria-activedescendant')
}

function choose(i) {
  const item = offer.items[i]
  if (!item) return // it was offered for another text
  const f = offer.take
  close()
  f(item)
}

/** Handles a key of the field; true means it was the menu's. */
export function key(e) {
  const plain = !e.shiftKey && !e.altKey && !e.ctrlKey && !e.metaKey && !e.isComposing
  if (isOpen() && e.key === 'ArrowDown') mark((offer.at + 1) % offer.items.length)
  else if (isOpen() && e.key === 'ArrowUp') mark((offer.at < 1 ? offer.items.length : offer.at) - 1)
  else if (offer.coming && !box.hidden && /^Arrow(Down|Up)$/.test(e.key)) offer.arrow = e.key
  else if (e.key === 'Enter' && plain && offer.at >= 0 && !(offer.items[offer.at].whole && offer.items[offer.at].label === e.target.value)) choose(offer.at)
  else if (e.key === 'Tab' && plain && offer.coming) holdKeys(offer.coming, e)
  else if (e.key === 'Tab' && plain && isOpen()) choose(Math.max(0, offer.at))
  else if (e.key === 'Escape' && !box.hidden) close()
  else return false
  e.preventDefault()
  e.stopPropagation()
  return true
}
