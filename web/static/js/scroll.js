// The transcript follows what arrives while the reader is at its end, and stays
// still while the reader is elsewhere; then a button counts what is new.

import { onApplied } from './queue.js'

const scroller = document.getElementById('scroll')
const latest = document.getElementById('latest')
const gap = 8 // pixels between a prompt that sticks and a question
const near = 80 // pixels from the end that still count as the end
let following = true
let news = 0
let held // the id of the question that was put into view
let top = 0 // where it was put last
let soon = 0 // the frame that will settle it

export const atEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < near

export function toEnd() {
  following = true
  news = 0
  held = undefined
  follow()
  show()
}

/** The question that waits at the end of the transcript. */
const question = () => document.getElementById('turns')?.lastElementChild?.querySelector('[data-ask]')

/** How far a question begins above what can be seen of it, below the prompt if that sticks. */
function above(ask) {
  const prompt = ask.closest('.turn').querySelector('.ask-row')
  const sticks = prompt && getComputedStyle(prompt).position === 'sticky' ? prompt.offsetHeight : 0
  return scroller.getBoundingClientRect().top + sticks + gap - ask.getBoundingClientRect().top
}

/** Whether the question that was put into view still begins there. */
function atHead() {
  const ask = held && question()
  return Boolean(ask) && ask.id === held && Math.abs(above(ask)) < near
}

function follow() {
  if (!following) return
  const ask = question()
  if (ask && ask.id === held) return // it stands still while it is read
  scroller.scrollTop = scroller.scrollHeight
  held = ask?.id
  if (ask) scroller.scrollTop -= Math.max(0, above(ask))
  top = scroller.scrollTop
}

/** Once a frame: asking where things are makes the browser lay them out. */
function settle() {
  soon = 0
  // Who scrolled up since then is elsewhere, though no event has said so yet.
  if (scroller.scrollTop < top - 1 && !atEnd() && !atHead()) following = false
  follow()
  show()
}

function show() {
  if (!latest) return
  latest.hidden = following
  const n = latest.querySelector('[data-n]')
  if (n) n.textContent = news ? ` · ${news} new` : ''
}

export function scroll() {
  if (!scroller) return
  scroller.addEventListener('scroll', () => {
    // What grew below since it was put there is no reader's doing: who leaves goes up.
    following = atEnd() || atHead() || (following && scroller.scrollTop >= top - 1)
    if (following) news = 0
    show()
  }, { passive: true })
  document.addEventListener('webchat:frame', (e) => {
    if (!following && e.detail.ops.some((o) => o.a === 'append')) news++
  })
  onApplied(() => {
    if (following) soon ||= requestAnimationFrame(settle)
  })
  document.addEventListener('visibilitychange', () => { if (!document.hidden) settle() })
  // What a reader unfolds grows where it stands.
  document.addEventListener('webchat:lines', () => { following = atEnd(); show() }, true)
  new ResizeObserver(follow).observe(scroller)
  if (location.hash.length > 1 || document.querySelector('#hello:not([hidden])')) following = false
  else toEnd()
  earlier()
}

/** Older turns come when their link is pressed or scrolled to. */
function earlier() {
  document.addEventListener('click', async (e) => {
    const link = e.target.closest?.('a[data-earlier]')
    if (!link) return
    e.preventDefault()
    if (link.ariaBusy === 'true') return
    link.ariaBusy = 'true'
    try {
      const doc = await (await import('./older.js')).load(link.href)
      const height = scroller.scrollHeight
      doc(document)
      scroller.scrollTop += scroller.scrollHeight - height
    } catch (err) {
      link.ariaBusy = 'false'
      ;(await import('./toast.js')).failed(err)
    }
  })
}
