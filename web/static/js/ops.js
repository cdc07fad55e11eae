// Applies the operations of a frame (the agreement is in web/doc.go).

import { fragment } from './html.js'
import { inherit } from './more.js'
import { title } from './status.js'

const heard = 10_000 // milliseconds
const byId = (id) => document.getElementById(id)

/** What the reader scrolled in el: moving it undoes that. */
const scrolled = (el) => [...el.querySelectorAll('*')].filter((x) => x.scrollTop || x.scrollLeft)
  .map((x) => [x, { top: x.scrollTop, left: x.scrollLeft, behavior: 'instant' }])

/** Moves into fresh what the reader did to old, and old parts that did not change. */
function keep(old, fresh) {
  for (const el of fresh.querySelectorAll('[id][data-rev]')) {
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

/** Puts each root of html into place: where its id already is, else by put. */
function place(html, put) {
  for (const node of [...fragment(html).childNodes]) {
    if (node.nodeType !== Node.ELEMENT_NODE) continue
    const old = node.id && byId(node.id)
    if (old) swap(old, node)
    else put(node)
  }
}

/** Whether a link leads elsewhere than to the turns before the page's first one: a page may hold more of them than the server. */
function elsewhere(link) {
  const first = link && byId('turns').firstElementChild
  return first && link.dataset.earlier !== first.dataset.from
}

const does = {
  append: (t, o) => place(o.h, (node) => t.append(node)),
  before: (t, o) => place(o.h, (node) => t.before(node)),
  replace(t, o) {
    const fresh = fragment(o.h).firstElementChild
    if (fresh && !elsewhere(fresh.querySelector(':scope > [data-earlier]'))) swap(t, fresh)
  },
  remove: (t) => t.remove(),
  clear: (t) => t.replaceChildren(),
  attr: (t, o) => (o.v === undefined ? t.removeAttribute(o.n) : t.setAttribute(o.n, o.v)),
  text(t, o) { t.textContent = o.h },
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

/** Tells screen readers, each time it is called; what was told goes when it has been read out. */
export function announce(words, how = 'say') {
  const told = document.createElement('p')
  told.textContent = words
  byId(how)?.append(told)
  setTimeout(() => told.remove(), heard)
}
