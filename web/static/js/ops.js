// Applies the operations of a frame (the agreement is in web/doc.go).

import { announce } from './announce.js'
import { fragment } from './html.js'
import { inherit } from './more.js'
import { title } from './status.js'

const byId = (id) => document.getElementById(id)

/** What the reader scrolled in parts of el that stay: moving them undoes that. */
const scrolled = (el) => [...el.querySelectorAll('[id][data-rev], [id][data-rev] *')].filter((x) => x.scrollTop || x.scrollLeft)
  .map((x) => [x, { top: x.scrollTop, left: x.scrollLeft, behavior: 'instant' }])

/** Moves into fresh what the reader did to old, and old parts that did not change, or whose change comes later. */
function keep(old, fresh) {
  for (const el of fresh.querySelectorAll('[id][data-rev], .run[data-keep]')) {
    const was = el.isConnected || !fresh.contains(el) ? null : old.querySelector(`#${CSS.escape(el.id)}`)
    if (was && was.dataset.rev === el.dataset.rev) el.replaceWith(was)
  }
  for (const d of [old, ...old.querySelectorAll('details[data-touched]')]) {
    if (d.tagName !== 'DETAILS' || !('touched' in d.dataset)) continue
    const now = d.id === fresh.id ? fresh : fresh.querySelector(`#${CSS.escape(d.id)}`)
    if (!now || now === d) continue
    now.open = d.open
    now.dataset.touched = ''
    inherit(d, now)
  }
  const asked = old.matches('[data-ask]') ? [old] : old.querySelectorAll('[data-ask]')
  for (const form of asked) {
    for (const field of form.querySelectorAll('input[name], textarea[name]')) {
      const now = fresh.querySelector(`[name="${CSS.escape(field.name)}"]`)
      if (now && now !== field) now.value = field.value
    }
  }
}

/** The way back to the focused element inside of el, if it is there. */
function focusIn(el) {
  const active = document.activeElement
  if (!active || active === document.body || !el.contains(active)) return null
  const { id, name } = active
  const act = active.dataset.act
  return (fresh) => {
    if (active.isConnected) return active.focus({ preventScroll: true })
    const twin = (id && byId(id)) || (name && fresh.querySelector(`[name="${CSS.escape(name)}"]`)) ||
      (act && fresh.querySelector(`[data-act="${CSS.escape(act)}"]`)) || (fresh.tabIndex >= 0 || fresh.hasAttribute('tabindex') ? fresh : null)
    twin?.focus({ preventScroll: true })
  }
}

/** Puts fresh where old stands, and keeps what the reader did there. */
export function swap(old, fresh) {
  if (fresh.id === old.id && fresh.dataset.rev && fresh.dataset.rev === old.dataset.rev) return
  const refocus = focusIn(old)
  const boxes = fresh.querySelector('[id][data-rev]') ? scrolled(old) : []
  keep(old, fresh)
  old.replaceWith(fresh)
  refocus?.(fresh)
  for (const [box, at] of boxes) if (box.isConnected) box.scrollTo(at)
}

/** Gives old what fresh has of attributes; what scripts gave it stays. */
function attributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (name !== 'data-keep' && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  old.hidden = fresh.hidden
}

/** Brings old up to date where it stands: its attributes, and what in it has an id. What is data-keep keeps what it holds. */
function update(old, fresh) {
  attributes(old, fresh)
  if (!('keep' in fresh.dataset)) for (const part of [...fresh.children]) updateIn(old, part)
}

function updateIn(old, part) {
  const was = part.id && old.querySelector(`#${CSS.escape(part.id)}`)
  if (!was) for (const inner of [...part.children]) updateIn(old, inner)
  else if (part.matches('[data-keep], :has([data-keep])')) update(was, part)
  else if (!was.isEqualNode(part)) swap(was, part)
}

/** Whether a link leads elsewhere than to the turns before the page's first one: a page may hold more of them than the server. */
function elsewhere(link) {
  const first = link && byId('turns').firstElementChild
  return first && link.dataset.earlier !== first.dataset.from
}

const rootOf = (o) => fragment(o.h).firstElementChild

const does = {
  add(t, o) {
    const fresh = rootOf(o)
    const old = byId(fresh.id)
    if (old) swap(old, fresh)
    else t.insertBefore(fresh, o.b ? byId(o.b) : null)
  },
  put(t, o) {
    const fresh = rootOf(o)
    if (!t.isEqualNode(fresh) && !elsewhere(fresh.querySelector(':scope > [data-earlier]'))) swap(t, fresh)
  },
  update: (t, o) => update(t, rootOf(o)),
  remove: (t) => t.remove(),
  clear: (t) => t.replaceChildren(),
}

/** Applies one operation. An unknown one, or one without its target, does nothing. */
export function apply(op) {
  if (op.a === 'title') {
    title(op.h)
    return
  }
  if (op.a === 'say' || op.a === 'alert') {
    announce(op.h, op.a)
    return
  }
  const target = byId(op.t)
  if (target && Object.hasOwn(does, op.a)) does[op.a](target, op)
}
