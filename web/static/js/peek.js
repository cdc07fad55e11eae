// Looking before opening: what is under the cursor of the bar stands on the Desk in
// one tab of its own. Nothing of it is kept or reported until it is opened.

import { path, post, session } from './api.js'
import { visit } from './base.js'
import { ensure } from './composer.js'
import { bring, openOutput, restoreTabs } from './desk.js'
import { asker } from './latest.js'
import { drop, paneOf, place, refresh, rekey } from './pane.js'
import { desk, front, lookKey as key, tabOf, tabWith } from './tabs.js'

/** What is seen beside what is open. */
const aside = {
  former: null, // what stood on the Desk before: {front, beside, hidden, closed}
  under: '', // the option that is shown
  since: 0,
  last: 0,
}
const question = asker()

function begin() {
  aside.former ??= { front: desk.front, beside: desk.beside, hidden: desk.hidden, closed: new Set(desk.tabs.filter((t) => t.closed).map((t) => t.key)) }
}

/** Puts a tab for a look into the strip, or another one into its place. */
function tab(option, out, type) {
  const old = tabOf(key)
  if (old) desk.tabs.splice(desk.tabs.indexOf(old), 1)
  drop(key)
  const t = { key, look: true, name: option.path, base: option.path.split('/').pop(), icon: option.icon, kind: type, outs: [out], out, state: 'done', closed: false, secret: !out }
  desk.tabs.push(t)
  return t
}

/** Shows what an option of the bar stands for; of one that nothing can be shown of, what stood there. */
export async function peek(option) {
  const now = option?.key ?? ''
  if (now === aside.under) return
  question.drop()
  if (!option?.peeks) {
    aside.under = now
    restoreFormer()
    return option?.shows?.()
  }
  begin()
  aside.under = now
  desk.hidden = false
  if (option.out) {
    bring(tabWith(option.out), { byItself: true, peeked: true, lines: option.lines })
    return
  }
  const signal = question.begin()
  try {
    await ensure({ looks: true })
    const shown = await post(path('/display'), { ...option.wanted, preview: true }, { signal })
    if (signal.aborted || aside.under !== now) return
    const t = tab(option, shown.output?.id ?? '', shown.output?.type ?? 'file')
    bring(t, { byItself: true, peeked: true })
    if (option.lines && shown.output) place(t, option.lines)
  } catch (err) {
    if (err.name === 'AbortError') return
    if (err.status !== 422) throw err
    restoreFormer() // what cannot be shown says so when it is opened
  }
}

/** Takes the look away and puts back what stood there. */
function restoreFormer() {
  const look = tabOf(key)
  if (look) desk.tabs.splice(desk.tabs.indexOf(look), 1)
  drop(key)
  if (!aside.former) return
  Object.assign(desk, { front: aside.former.front, beside: aside.former.beside, hidden: aside.former.hidden })
  for (const t of desk.tabs) t.closed = aside.former.closed.has(t.key)
  restoreTabs()
}

export async function unpeek() {
  question.drop()
  aside.under = ''
  restoreFormer()
  aside.former = null
}

/** Makes the look in front a tab like any other; false if there is none of that option. */
export async function keepLook(option, { beside, focus } = {}) {
  const look = tabOf(key)
  question.drop()
  aside.under = ''
  if (!look || look.secret || (option && look.name !== option.path)) {
    restoreFormer()
    aside.former = null
    return false
  }
  const { front: was } = aside.former ?? {}
  aside.former = null
  await post(path(`/outputs/${look.out}/keep`))
  if (!location.pathname.includes('/sessions/')) {
    visit(`/sessions/${session()}#out/${look.out}`)
    return true
  }
  const own = `${look.kind} ${look.name}`
  const had = tabOf(own)
  if (had) { // another revision of a tab that is there
    desk.tabs.splice(desk.tabs.indexOf(look), 1)
    drop(key)
    if (!had.outs.includes(look.out)) had.outs.push(look.out)
    desk.known.add(look.out)
    if ((beside && was) || desk.front === key) desk.front = was ?? null // the look has ended
    openOutput(look.out, { lines: option?.lines, other: beside, focus })
    return true
  }
  look.key = own
  look.look = false
  rekey(key, own)
  if (desk.front === key) desk.front = own
  if (beside && was && tabOf(was)) {
    desk.front = was
    bring(look, { other: true, focus })
  } else bring(look, { lines: option?.lines, focus })
  if (paneOf(own)) await refresh(look)
  return true
}

const staying = 2000 // milliseconds of scrolling after which a look is kept

export function looking() {
  const keepIt = () => { if (front()?.look && !document.getElementById('open-bar').open) keepLook().catch(() => {}) }
  document.addEventListener('webchat:chosen', keepIt)
  document.addEventListener('webchat:finding', keepIt)
  document.addEventListener('webchat:touched', (e) => {
    if (e.target.dataset.key !== key) return
    const now = performance.now()
    if (now - aside.last > 1000) aside.since = now
    aside.last = now
    if (now - aside.since >= staying) keepLook().catch(() => {})
  })
}
