// The transcript follows what arrives while the reader is at its end, and stays
// still while the reader is elsewhere; then a button counts what is new.

import { onApply } from './queue.js'

const scroller = document.getElementById('scroll')
const held = document.createElement('i')
const latest = document.getElementById('latest')
const most = 80 // turns that stay in the page while the reader is at its end
const kept = 40 // of them, when there are more
const near = 80 // pixels from the end that still count as the end
let following = true
let news = 0
let top = 0 // where it was put last
let soon = 0 // the frame that will settle it

const toGo = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
const atEnd = () => toGo() < near

export function toEnd() {
  following = true
  news = 0
  follow()
  show()
}

function follow() {
  if (!following) return
  scroller.scrollTop = scroller.scrollHeight
  top = scroller.scrollTop
}

/** What grew below since it was put there is no reader's doing: who leaves goes up. */
function look() {
  following = atEnd() || (following && scroller.scrollTop >= top - 1)
  if (!soon && toGo() < 1) top = scroller.scrollTop // what got shorter moved it
}

/**
 * Until the frame that settles it the page stays as long as it is: the browser moves
 * a reader at the end when something there goes, and what comes then would be below.
 */
function hold() {
  if (soon || !following) return
  look()
  if (!following) return
  held.style.height = `${scroller.scrollHeight}px`
  scroller.classList.add('is-held')
  soon = requestAnimationFrame(settle)
}

/** Once a frame: asking where things are makes the browser lay them out. */
function settle() {
  if (following) look() // who scrolled up since then is elsewhere, though no event has said so yet
  soon = 0
  held.style.height = ''
  scroller.classList.remove('is-held')
  follow()
  show()
  if (following && document.getElementById('turns').childElementCount > most) giveBack()
}

async function giveBack() {
  const { shorten } = await import('./older.js')
  if (!following) return
  shorten(kept)
  follow() // what the browser scrolls now is no reader's doing
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
    look()
    if (following) news = 0
    else if (scroller.scrollTop < near) document.querySelector('#earlier a[data-earlier]')?.click()
    show()
  }, { passive: true })
  document.addEventListener('webchat:frame', (e) => {
    if (!following && e.detail.ops.some((o) => o.a === 'add')) news++
  })
  held.className = 'spacer'
  scroller.append(held)
  onApply(hold)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) settle() })
  // What a reader unfolds grows where it stands.
  scroller.addEventListener('webchat:lines', () => { following = atEnd(); show() }, true)
  new ResizeObserver(follow).observe(scroller)
  const dock = document.getElementById('dock')
  new ResizeObserver(() => { // what is brought into view must not stand below it
    scroller.style.scrollPaddingBottom = `${dock.offsetHeight + 16}px`
    follow()
  }).observe(dock)
  if ((location.hash.length > 1 && !location.hash.startsWith('#out/')) || document.querySelector('#hello:not([hidden])')) following = false
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
