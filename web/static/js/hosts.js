// The hosts that one call waits for stand in a list, each with a tick: those with one are opened.

import { show } from './ready.js'

const ticks = new Map() // request → whether its host has a tick
const since = new Map() // list → when it came
const together = 400 // milliseconds: too short for anybody to have read the list

/** The ticks of a list: what comes later than the list has none until somebody gives it one. */
export function tick(group) {
  const boxes = [...group.querySelectorAll('[role=checkbox]')]
  if (!boxes.some((box) => ticks.has(of(box)))) since.set(group.dataset.by, performance.now())
  const first = performance.now() - since.get(group.dataset.by) < together
  for (const box of boxes) {
    if (!ticks.has(of(box))) ticks.set(of(box), first)
    box.ariaChecked = String(ticks.get(of(box)))
  }
}

const of = (box) => box.closest('[data-of]').dataset.of

/** Gives a tick or takes it. */
export function turn(box) {
  ticks.set(of(box), box.ariaChecked !== 'true')
  box.ariaChecked = String(ticks.get(of(box)))
  show()
}

/** The answer to the question about a host. */
export const answerTo = (request, scope) => (ticks.get(request) ? { decision: 'allow', scope } : { decision: 'deny' })

/** Arrow keys move in the list; true: it was one. */
export function moves(group, e) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
  const boxes = [...group.querySelectorAll('[role=checkbox]')]
  if (!by || !boxes.length) return false
  const at = boxes.indexOf(e.target)
  boxes[at < 0 ? (by > 0 ? 0 : boxes.length - 1) : Math.min(Math.max(at + by, 0), boxes.length - 1)].focus()
  return true
}
