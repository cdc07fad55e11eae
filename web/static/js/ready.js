// When a question may be answered. A question ignores clicks until it has been in
// sight for half a second, in a window that has the focus, and keys until it has had
// the focus for half a second. It is allowed only after the end of what would be done
// was on the screen.

import { pointed } from './typing.js'

const inert = 500 // milliseconds
const timers = new WeakMap() // question → its timer
const inSight = new WeakSet()
const seenInList = new WeakSet()

const permits = '[data-act=allow-once], [data-act=grant], [data-act=allow-ticked], [data-act=open-hosts]'
const list = () => document.getElementById('dock-asks')
const all = () => [...list().querySelectorAll('[data-ask], [data-several]')]
const whole = (el) => el.querySelector('[data-whole]')

/** Whether a question may be answered by a click. */
export const ready = (el) => !off() && 'ready' in el.dataset

/** Whether the server cannot be reached, so that no answer is. */
export const off = () => 'off' in document.body.dataset

/** Whether it may be answered by a key. */
export const readyForKeys = (el) => ready(el) && 'keys' in el.dataset

/** Whether the end of what would be done was on the screen. */
export const read = (el) => 'read' in el.dataset

/** The end of what a question is about was in view, elsewhere. */
export function saw(el) {
  seenInList.add(el)
  el.dataset.read = ''
  show()
}

/** What a question is about has to come into view again, but for what was seen since it is in a list. */
export function unsaw(el) {
  if (seenInList.has(el)) return
  delete el.dataset.read
  watchEnds(el)
}

/** Whether it may be allowed; of a list those that have a tick, once all of them were read. */
const allowable = (el) => ready(el) && (el.dataset.several ? !bare(el) && ticked(el).every(read) : read(el))

/** The row of a list that is about a request. */
export const rowOf = (group, request) => group.querySelector(`[data-of="${CSS.escape(request)}"]`)

/** Those of a list that have a tick. */
export const ticked = (group) => members(group).filter((el) => rowOf(group, el.dataset.request)?.querySelector('[role=checkbox][aria-checked=true]'))

/** Whether all ticks of a list are off. */
export const bare = (group) => !ticked(group).length

/** A question in words, with the file of keys or passwords it is about. */
export const inWords = (el) => `${el.querySelector('h3').textContent}: ${el.dataset.what}${el.dataset.secret ? `. ${el.dataset.secret}` : ''}`

/** The questions a list stands for. */
export const members = (group) => group.dataset.several.split(' ')
  .map((id) => list().querySelector(`[data-request="${CSS.escape(id)}"]`)).filter(Boolean)

/** Makes a question inert for half a second from now. */
export function hold(el) {
  delete el.dataset.ready
  clearTimeout(timers.get(el))
  timers.set(el, setTimeout(() => {
    if (!inSight.has(el) || document.hidden) return
    el.dataset.ready = ''
    show()
  }, inert))
  show()
}

/** Shows on the buttons whether they would do something. */
export function show() {
  for (const el of all()) {
    for (const b of el.querySelectorAll('[data-act^=deny]')) b.setAttribute('aria-disabled', String(off()))
    for (const b of el.querySelectorAll(permits)) b.setAttribute('aria-disabled', String(!allowable(el)))
    if (el.dataset.several) el.toggleAttribute('data-read', ticked(el).every(read))
    const unread = el.querySelector('[data-unread]')
    if (unread) unread.hidden = read(el)
  }
}

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      inSight.add(target)
      hold(target)
    } else {
      inSight.delete(target)
      delete target.dataset.ready
    }
  }
  show()
})

const ends = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting || document.hidden || !target.checkVisibility()) continue // it may have gone since
    ends.unobserve(target)
    const of = target.closest('[data-of]')?.dataset.of ?? target.closest('[data-pane]')?.dataset.request
    const el = of ? list().querySelector(`[data-request="${CSS.escape(of)}"]`) : target.closest('[data-ask]')
    if (el && of) seenInList.add(el)
    if (el) el.dataset.read = ''
  }
  show()
})

/** What does not fit its place scrolls in it, can be reached by keys, and says how long it is. */
const sizes = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const long = target.scrollHeight > target.clientHeight + 1
    if (long) target.tabIndex = 0
    else target.removeAttribute('tabindex')
    const size = target.closest('[data-ask]')?.querySelector('[data-size]')
    if (size) size.hidden = !long
  }
})

/** Makes all of them inert: they moved, and what was under the pointer is another. */
export const holdAll = () => all().forEach(hold)

/** Looks after a question that is new in the page. */
export function attend(el) {
  sight.observe(el)
  const text = whole(el)
  if (text) sizes.observe(text)
  watchEnds(el)
}

/** What ends there counts as read once that was in view, also on the Desk. */
export function watchEnds(el) {
  for (const end of el.querySelectorAll('.perm-end')) ends.observe(end)
}

export function readying() {
  document.addEventListener('webchat:pane', (e) => watchEnds(e.target))
  addEventListener('focus', holdAll)
  document.addEventListener('webchat:state', (e) => {
    document.body.toggleAttribute('data-off', ['off', 'signed-out', 'gone'].includes(e.detail.state))
    holdAll()
  })
  document.addEventListener('visibilitychange', () => document.hidden || holdAll())
  document.getElementById('dock').addEventListener('focusin', (e) => {
    const el = e.target.closest('[data-ask], [data-several]')
    if (!el || el.contains(e.relatedTarget)) return
    el.toggleAttribute('data-ring', !pointed())
    const timer = setTimeout(() => { el.dataset.keys = '' }, inert)
    el.addEventListener('focusout', function left(gone) {
      if (el.contains(gone.relatedTarget)) return
      clearTimeout(timer)
      delete el.dataset.keys
      delete el.dataset.ring
      el.removeEventListener('focusout', left)
    })
    if (!pointed()) hold(el) // a press of the pointer gives the focus, too, and must not undo itself
  })
}
