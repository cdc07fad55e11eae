// The transcript follows what arrives while the reader is at its end, and stays
// still while the reader is elsewhere; then a button counts what is new.

import { onApply } from './queue.js'

const scroller = document.getElementById('scroll')
const held = document.createElement('i')
const latest = document.getElementById('latest')
const most = 80 // turns that stay in the page while the reader is at its end
const kept = 40 // of them, when there are more
const near = 80 // pixels from the end that still count as the end
/** Where the conversation stands. */
const view = {
  following: true,
  news: 0,
  top: 0, // where it was put last
  soon: 0, // the frame that will settle it
}

const toGo = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight
const atEnd = () => toGo() < near

export function toEnd() {
  view.following = true
  view.news = 0
  follow()
  show()
}

function follow() {
  if (!view.following) return
  scroller.scrollTop = scroller.scrollHeight
  view.top = scroller.scrollTop
}

/** What grew below since it was put there is no reader's doing: who leaves goes up. */
function look() {
  view.following = atEnd() || (view.following && scroller.scrollTop >= view.top - 1)
  if (!view.soon && toGo() < 1) view.top = scroller.scrollTop // what got shorter moved it
}

/**
 * Until the frame that settles it the page stays as long as it is: the browser moves
 * a reader at the end when something there goes, and what comes then would be below.
 */
function hold() {
  if (view.soon || !view.following) return
  look()
  if (!view.following) return
  held.style.height = `${scroller.scrollHeight}px`
  scroller.classList.add('is-held')
  view.soon = requestAnimationFrame(settle)
}

/** Once a frame: asking where things are makes the browser lay them out. */
function settle() {
  if (view.following) look() // who scrolled up since then is elsewhere, though no event has said so yet
  view.soon = 0
  held.style.height = ''
  scroller.classList.remove('is-held')
  follow()
  show()
  if (view.following && document.getElementById('turns').childElementCount > most) giveBack()
}

async function giveBack() {
  const { shorten } = await import('./older.js')
  if (!view.following) return
  shorten(kept)
  follow() // what the browser scrolls now is no reader's doing
}

function show() {
  if (!latest) return
  latest.hidden = view.following
  const n = latest.querySelector('[data-n]')
  if (n) n.textContent = view.news ? ` · ${view.news} new` : ''
}

export function scroll() {
  if (!scroller) return
  scroller.addEventListener('scroll', () => {
    look()
    if (view.following) view.news = 0
    else if (scroller.scrollTop < near) document.querySelector('#earlier a[data-earlier]')?.click()
    show()
  }, { passive: true })
  document.addEventListener('webchat:frame', (e) => {
    if (!view.following && e.detail.ops.some((o) => o.a === 'add')) view.news++
  })
  held.className = 'spacer'
  scroller.append(held)
  onApply(hold)
  document.addEventListener('visibilitychange', () => { if (!document.hidden) settle() })
  // What a reader unfolds grows where it stands.
  scroller.addEventListener('webchat:lines', () => { view.following = atEnd(); show() }, true)
  new ResizeObserver(follow).observe(scroller)
  const dock = document.getElementById('dock')
  new ResizeObserver(() => { // what is brought into view must not stand below it
    scroller.style.scrollPaddingBottom = `${dock.offsetHeight + 16}px`
    follow()
  }).observe(dock)
  if ((location.hash.length > 1 && !location.hash.startsWith('#out/')) || document.querySelector('#hello:not([hidden])')) view.following = false
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
