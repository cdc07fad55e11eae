// What is pressed before the thing it is for is there waits for it, and is handed over in the order in
// which it was pressed: while a page loads, from one page to the next, and while what hold.js names is
// under way. It runs before all other scripts.

import { actByItself, insert } from './handover.js'

const store = 'webchat.keys'
const patience = 15_000 // milliseconds that one thing is waited for
const brief = 2000 // of a page that may not come: what was asked for may be a file
const pause = 150 // without a key, after which a page is left: what is pressed between two pages reaches neither
const longest = 2000 // that leaving waits for that
const fresh = 20_000 // milliseconds for which a page hands keys to the next
const modifiers = ['altKey', 'ctrlKey', 'metaKey', 'shiftKey']
/** What waits. */
const held = {
  queue: [], // {key, code, …}, {text} or {press}, an element
  waits: new Set(), // what is waited for
  loading: false, // the page's own scripts, of which none acts on keys yet
  giving: false, // what waited is being handed over
  last: -Infinity, // when a key was pressed
  typed: false, // there is text in the prompt that no script has heard of
}

/** Whether something is asked in a dialog: what was pressed before answers nothing there. */
const asked = () => document.getElementById('confirm')?.open

const waiting = () => !asked() && (held.loading || held.giving || held.waits.size > 0 || held.queue.length > 0)

const prompt = () => document.getElementById('prompt')

/** Keys that only write, or move in what is written. */
const writes = (e) => !e.ctrlKey && !e.metaKey && (e.key.length === 1 || /^(Backspace|Delete|ArrowLeft|ArrowRight|Home|End)$/.test(e.key))

/** Whether the browser may write at once: nothing waits before it, and no script needs to know. */
const direct = (target) => held.loading && !held.queue.length && !held.waits.size && target === prompt()

/** Whether a key may be for the page: others are the browser's, such as F5 and Ctrl R. */
function ours(e) {
  if (e.isComposing || /^(Shift|Control|Alt|AltGraph|Meta|CapsLock|NumLock|Process|Unidentified|Dead)$/.test(e.key)) return false
  if (e.ctrlKey || e.metaKey) return e.altKey ? e.getModifierState('AltGraph') : e.shiftKey ? /^(f|enter)$/i.test(e.key) : /^([kp.]|Enter)$/i.test(e.key)
  return /^F\d/.test(e.key) ? e.key === 'F6' : !/^(Audio|Browser|Launch|Media)/.test(e.key)
}

const described = (e) => ({ key: e.key, code: e.code, ...Object.fromEntries(modifiers.map((name) => [name, e[name]])) })

function keydown(e) {
  if (e.isTrusted) held.last = performance.now()
  if (!e.isTrusted || !waiting() || !ours(e)) return
  if (direct(e.target) && writes(e)) {
    held.typed = true
    return
  }
  e.preventDefault()
  e.stopImmediatePropagation()
  held.queue.push(described(e))
}

/** Text that comes without a key, as from a keyboard on the screen. */
function text(e, what) {
  if (!waiting() || !what || !e.cancelable) return
  if (direct(e.target)) {
    held.typed = true
    return
  }
  e.preventDefault()
  e.stopImmediatePropagation()
  held.queue.push({ text: what })
}

function click(e) {
  const el = held.loading && e.target.closest?.('button, [data-slip]')
  if (!el) return
  e.preventDefault()
  held.queue.push({ press: el })
}

/** Hands over what waits, one after the other, until there is something to wait for again. */
async function give() {
  if (held.giving) return
  held.giving = true
  const ready = () => held.queue.length && !held.loading && !held.waits.size && !asked()
  while (ready()) {
    await new Promise((done) => setTimeout(done)) // what was waited for, or the key before, does at once is done then
    if (!ready()) break
    const { press, text: words, ...key } = held.queue.shift()
    if (press) press.click()
    else if (words) insert(words)
    else actByItself(key)
  }
  held.giving = false
}

/** Waits until a promise is over, or for so long. */
function wait(coming, most = patience) {
  held.waits.add(coming)
  const over = () => {
    clearTimeout(timer)
    if (held.waits.delete(coming)) give()
  }
  const timer = setTimeout(over, most)
  Promise.resolve(coming).then(over, over)
}

/** Another page comes: it gets what is pressed from now on. */
function leave(most) {
  wait(new Promise((stays) => {
    addEventListener('hashchange', stays, { once: true })
    addEventListener('pageshow', (e) => e.persisted && stays())
  }), most)
}

/** Leaves for another page between two keys. */
function depart(go, end = performance.now() + longest) {
  const left = Math.min(held.last + pause, end) - performance.now()
  if (left > 0) setTimeout(depart, left, go, end)
  else go()
}

function handOn() {
  const queue = held.queue.splice(0).filter((one) => !one.press)
  try { if (queue.length) sessionStorage.setItem(store, JSON.stringify({ at: Date.now(), queue })) } catch { /* the page goes all the same */ }
}

function takeOver() {
  try {
    const { at, queue } = JSON.parse(sessionStorage.getItem(store) ?? '{}')
    sessionStorage.removeItem(store)
    if (Date.now() - at < fresh) held.queue.push(...queue)
  } catch { /* nothing was handed on */ }
}

/** The prompt has the focus: text that was pressed for it is seen at once. */
export function focused() {
  if (!held.loading || document.activeElement !== prompt()) return
  for (let one; (one = held.queue[0]) && (one.text || (one.key.length === 1 && !one.ctrlKey && !one.metaKey && !one.altKey)); held.queue.shift()) {
    insert(one.text ?? one.key)
    held.typed = true
  }
}

/** The page's scripts act on keys from now on. */
export function usable() {
  held.loading = false
  if (held.typed) prompt().dispatchEvent(new Event('input', { bubbles: true }))
  give()
}

export function ahead(loading) {
  held.loading = loading
  if (loading) takeOver()
  addEventListener('keydown', keydown, true)
  addEventListener('beforeinput', (e) => e.inputType === 'insertText' && text(e, e.data), true)
  addEventListener('paste', (e) => text(e, e.clipboardData?.getData('text/plain')), true)
  addEventListener('click', click, true)
  addEventListener('beforeunload', () => leave(brief))
  addEventListener('pagehide', handOn)
  addEventListener('close', () => give(), true) // of a dialog
  document.addEventListener('webchat:leaving', ({ detail: go }) => {
    leave()
    depart(go)
  })
  document.addEventListener('webchat:hold', ({ detail: { coming, key } }) => {
    if (key) {
      key.preventDefault()
      key.stopImmediatePropagation()
      held.queue.unshift(described(key))
    }
    wait(coming)
  })
}
