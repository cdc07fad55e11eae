// The review as it is drawn: its changes, which of them one is at, and drawing it anew.

import { getText, session } from './api.js'
import { draft } from './drafts.js'
import { fragment } from './html.js'
import { asker } from './latest.js'

const question = asker()

/** The one review of a page: its element, its tab, and what it is asked for. */
export const review = {
  root: null, since: 'turn', from: '', // from is an event; of what going back writes, the prompt
  also: [], // files that going back writes though somebody else changed them
  newest: null, // what the last call of load does
  tab: { key: 'review', name: 'Review', base: 'Review', icon: 'diff', kind: 'review', outs: [], out: 'review', state: 'review' },
}

export const all = (what, from = review.root) => [...from.querySelectorAll(what)]
export const hunks = () => all('[data-hunk]')
export const byKey = (key) => review.root.querySelector(`[data-key="${CSS.escape(key)}"]`)
export const fileOf = (hunk) => hunk.closest('.rfile')
export const now = () => document.activeElement?.closest?.('.review [data-hunk]') ?? review.root.querySelector('[data-hunk][tabindex="0"]')

/** Marks a change as kept, or not; the marks are kept with the draft. */
export function keep(key, on) {
  const list = draft.list('kept').filter((k) => k !== key)
  draft.saveList('kept', on ? [...list, key] : list)
}

/** Marks the change that Tab leads to, and goes to it. */
export function to(hunk, { focus = true } = {}) {
  if (!hunk) return
  for (const el of hunks()) el.tabIndex = el === hunk ? 0 : -1
  for (const b of all('[data-to]')) b.ariaCurrent = b.dataset.to === fileOf(hunk).dataset.file ? 'true' : null
  if (!focus) return
  hunk.focus({ preventScroll: true })
  hunk.scrollIntoView({ block: 'nearest' })
}

export function step(by) {
  const list = hunks()
  const i = list.indexOf(now())
  to(list[Math.max(0, Math.min(list.length - 1, i < 0 ? 0 : i + by))])
}

/** The query that says what it is asked for. */
function asked() {
  if (review.since !== 'back') return `since=${review.since}${review.from ? `&from=${review.from}` : ''}`
  return new URLSearchParams([['back', review.from], ...review.also.map((name) => ['also', name])])
}

/** Draws what the server says now. Who is overtaken by a later call waits for what that one draws. */
export const load = () => (review.newest = draw())

/** Draws it once. What one reads stays where it is. */
async function draw() {
  const signal = question.begin()
  let text = ''
  try {
    text = await getText(`/sessions/${session()}/review?${asked()}`, { signal })
  } catch (err) {
    if (!signal.aborted) throw err
  }
  if (signal.aborted) return review.newest
  const fresh = fragment(text).firstElementChild
  const scroll = review.root.querySelector('.changes')
  const top = scroll?.getBoundingClientRect().top
  const seen = scroll && (review.root.querySelector('[data-hunk]:focus-within') ?? hunks().find((el) => el.getBoundingClientRect().bottom > top))
  const at = seen && { key: seen.dataset.key, file: fileOf(seen).dataset.path, n: Number(seen.dataset.hunk), y: seen.getBoundingClientRect().top, focus: seen.contains(document.activeElement) }
  const lost = review.root.contains(document.activeElement)
  const button = document.activeElement?.closest?.('.review .dhead [data-of], .review .dhead [data-by]')
  const select = document.activeElement?.matches?.('.review select')
  const draft = review.root.querySelector('.remark-edit')
  const drafted = draft && { key: draft.closest('[data-hunk]').dataset.key, draft, focus: draft === document.activeElement }
  const y = scroll?.scrollTop ?? 0
  review.root.replaceChildren(...fresh.childNodes)
  for (const name of ['since', 'changes', 'undone', ...(review.since === 'back' ? [] : ['from'])]) review.root.dataset[name] = fresh.dataset[name]
  Object.assign(review.tab, { name: fresh.dataset.base, base: fresh.dataset.base })
  review.root.dataset.base = review.tab.base
  review.root.ariaLabel = review.tab.base
  document.dispatchEvent(new Event('webchat:tabs'))
  const again = at && (byKey(at.key) ?? all('[data-hunk]', all('.rfile').find((f) => f.dataset.path === at.file) ?? document.createElement('i')).findLast((el) => Number(el.dataset.hunk) <= at.n))
  review.root.querySelector('.changes').scrollTop = y
  if (again) review.root.querySelector('.changes').scrollTop += again.getBoundingClientRect().top - at.y
  to(again ?? hunks()[0], { focus: false })
  if (drafted && byKey(drafted.key)) {
    byKey(drafted.key).append(drafted.draft)
    if (drafted.focus) drafted.draft.focus({ preventScroll: true })
  } else if (button) review.root.querySelector(`[data-of="${button.dataset.of}"], [data-by="${button.dataset.by}"]`)?.focus({ preventScroll: true })
  else if (select) review.root.querySelector('select')?.focus()
  else if (at?.focus || lost) (again ?? hunks()[0] ?? review.root.querySelector('.nothing, .changes')).focus({ preventScroll: true })
  review.root.dispatchEvent(new Event('webchat:drawn'))
}
