// Questions that are one card: a list, each with a tick. Those with one are allowed, the others denied.

import { announce } from './announce.js'
import { send } from './answering.js'
import { look, next } from './held.js'
import { more } from './grants.js'
import { bare, hold, members, read, ready, rowOf, show, ticked, watchEnds } from './ready.js'

const ticks = new Map() // request → whether it has a tick
const came = new Map() // request → when it came
const soon = 400 // milliseconds after the one before: too short for anybody to have read the list

/** Notes when questions came. */
export function note(els) {
  for (const { dataset: { request } } of els) if (!came.has(request)) came.set(request, performance.now())
}

const boxes = (group) => [...group.querySelectorAll('[role=checkbox]')]
const of = (box) => box.closest('[data-of]').dataset.of

/**
 * The ticks of a list: what came later, and what is wrong, has none until somebody gives it one. What is
 * held has to be looked at first, so that it may come later.
 */
export function tick(group) {
  const any = group.dataset.by === 'held'
  let until = Infinity
  for (const box of boxes(group).sort((a, b) => came.get(of(a)) - came.get(of(b)))) {
    const at = came.get(of(box))
    if (!ticks.has(of(box))) ticks.set(of(box), (any || at < until) && !('wrong' in box.closest('li').dataset))
    if (at < until) until = at + soon
    box.ariaChecked = String(ticks.get(of(box)))
  }
  label(group)
}

/** Says on the buttons what they would do. */
function label(group) {
  const yes = ticked(group).length
  const no = members(group).length - yes
  for (const { dataset, firstChild } of group.querySelectorAll('[data-yes]')) {
    firstChild.data = [`${dataset.yes}${yes ? ` ${yes}` : ''}`, ...(no && yes ? [`${dataset.no} ${no}`] : [])].join(', ')
  }
  const ways = group.querySelector('[data-act=ways]:not(.on-phones)')
  if (ways) ways.hidden = !offered(group).length
}

/** What may be allowed for longer of all that have a tick: each exactly, or what covers them all. */
function offered(group) {
  const [first, ...others] = ticked(group).map((el) => [...el.querySelectorAll('[data-grant]')])
  return (first ?? []).filter((one) => others.every((all) => all.some((b) => ('exact' in one.dataset ? 'exact' in b.dataset : b.dataset.grant === one.dataset.grant))))
}

function offer(group) {
  const all = offered(group)
  const several = ticked(group).length > 1
  const fresh = all[0].closest('.grants').cloneNode(true)
  fresh.hidden = false
  fresh.removeAttribute('id')
  for (const li of fresh.querySelectorAll('ul > li')) {
    const b = li.querySelector('[data-grant]')
    const at = all.findIndex((one) => one.dataset.grant === b.dataset.grant)
    if (at < 0) li.remove()
    b.ariaChecked = String(at === 0)
    b.tabIndex = at ? -1 : 0
    if (several && 'exact' in b.dataset) b.querySelector('.what').textContent = b.dataset.exact
    if (several && 'exact' in b.dataset) b.querySelector('.ex')?.remove()
  }
  if (all.length < 2) fresh.querySelector('p')?.remove()
  group.querySelector('.grants-of').replaceChildren(fresh)
}

/** Shows what a row is about, in place. */
function unfold(row, open = row.querySelector('.in').hidden) {
  const place = row.querySelector('.in')
  const what = row.querySelector('.what')
  const group = row.closest('[data-several]')
  const card = members(group).find((el) => el.dataset.request === row.dataset.of)
  const parts = what.querySelector('.perm-end') ? '.facts' : '.perm-file, [data-whole], .facts, .perm-do > [data-act=open-change]'
  what.setAttribute('aria-expanded', String(open))
  place.hidden = !open
  place.replaceChildren(...(open && card ? [...card.querySelectorAll(parts)].map((part) => part.cloneNode(true)) : []))
  watchEnds(place)
  hold(group)
}

/** Leads to what has to be read to its end first. */
function lead(group, el) {
  if (el.dataset.held) return look(el)
  const row = rowOf(group, el.dataset.request)
  const end = row.querySelector('.what .perm-end') ?? row.querySelector(':scope > .perm-end, .pickone .perm-end')
  if (end) end.scrollIntoView({ block: 'nearest' })
  else {
    unfold(row, true)
    const text = row.querySelector('[data-whole]')
    text.tabIndex = 0
    text.focus()
    text.scrollIntoView({ block: 'nearest' })
  }
  announce('Scroll to the end of it first')
}

/** Whether those with a tick may be allowed; if not, leads to what was not read. */
function may(group) {
  if (!ready(group) || bare(group)) return false
  const missed = ticked(group).find((el) => !read(el))
  if (missed) lead(group, missed)
  return !missed
}

/** Answers all of them: those with a tick by body, the others by no. */
function answer(group, body) {
  if (!may(group)) return
  const yes = new Set(ticked(group))
  for (const el of members(group)) send(el, yes.has(el) ? body(el) : { decision: 'deny' }, group)
}

export const bulk = {
  'allow-ticked': (group) => answer(group, () => ({ decision: 'allow', scope: 'once' })),
  'open-hosts': (group, { dataset: { scope } }) => answer(group, () => ({ decision: 'allow', scope })),
  'deny-all'(group) {
    if (ready(group)) for (const el of members(group)) send(el, { decision: 'deny' }, group)
  },
  ways(group) {
    if (offered(group).length) offer(group)
    more(group, group.matches('.is-hosts') || offered(group).length > 0)
  },
  less: (group) => more(group, false),
  async grant(group) {
    const on = (what) => group.querySelector(`.grants-of [role=radio][aria-checked=true][data-${what}]`)?.dataset
    const { grant, exact, only } = on('grant') ?? {}
    const scope = only ?? on('scope')?.scope
    if (!grant) return
    if (exact) return answer(group, (el) => ({ decision: 'allow', grant: el.querySelector('[data-exact]').dataset.grant, scope }))
    if (!may(group)) return
    const yes = ticked(group)
    await Promise.all(members(group).filter((el) => !yes.includes(el)).map((el) => send(el, { decision: 'deny' }, group))) // before it is covered
    send(yes[0], { decision: 'allow', grant, scope }, group) // which answers all of them
  },
  tick(group, box) {
    ticks.set(of(box), box.ariaChecked !== 'true')
    box.ariaChecked = String(ticks.get(of(box)))
    label(group)
    if ('grants' in group.dataset) more(group, false)
    box.focus()
    show()
  },
  facts: (_, b) => unfold(b.closest('li')),
  'open-change': (_, b) => b.dispatchEvent(new CustomEvent('webchat:open', { bubbles: true, detail: { target: b.closest('li').dataset.of } })),
  'look-next': (group) => next(members(group)),
  'look-at': (group, b) => look(members(group).find((el) => el.dataset.request === b.closest('li').dataset.of)),
}

/** Keys that move in the list, or open a row of it; true: it was one. */
export function moves(group, e) {
  const all = boxes(group)
  const at = all.indexOf(e.target)
  if (e.key === 'Enter' && (at >= 0 || e.target === group)) {
    const box = all[Math.max(at, 0)]
    if (!group.querySelector('.several')) return false
    box.focus()
    box.parentElement.querySelector('.what').click()
    return true
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
  if (!by || !all.length || (at < 0 && e.target !== group)) return false
  all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)].focus()
  return true
}
