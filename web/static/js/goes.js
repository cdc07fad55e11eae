// Where a link in prose leads is shown while it is pointed at or has the focus: in the foot of its
// pane, else at the window's edge. A finger's first tap says it, the second follows.

import { clone } from './html.js'

/** The words for it. */
const now = {
  shown: null, // the element that says it
  link: null, // the link it says it of
  tapped: null, // the link that a finger touched last
}

const links = '.said a[href]:not([href="#src"], [href^="#"]), .said a[data-to]'
const linkAt = (e) => e.target.closest?.(links)

const bare = (text) => text.trim().replace(/^(https?:\/\/|mailto:)/i, '').replace(/\/$/, '')

/** Whether the text of a link names another address than it leads to. */
function other(text, to) {
  const named = /^(?:https?:\/\/)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?::\d+)?(?:[/?#].*)?$/i.exec(text.trim())
  return Boolean(named) && /^[^/?#:]*/.exec(bare(to))[0].toLowerCase() !== named[1].toLowerCase()
}

// A link that is drawn anew while it is pointed at ends with no event of its own.
const gone = new MutationObserver(() => { if (!now.link.isConnected) hide() })

function hide() {
  gone.disconnect()
  now.shown?.parentElement?.classList.remove('leads')
  now.shown?.remove()
  now.shown = now.link = null
}

function show(link) {
  hide()
  const to = link.dataset.to ?? link.getAttribute('href')
  const { root, parts } = clone('tpl-goes')
  parts.to.textContent = bare(to)
  root.classList.toggle('is-other', !link.dataset.to && other(link.textContent, to))
  const foot = link.closest('.pane')?.querySelector('.dfoot')
  foot?.classList.add('leads')
  ;(foot ?? document.body).append(root)
  now.shown = root
  now.link = link
  gone.observe(document.body, { childList: true, subtree: true })
}

export function goes() {
  for (const [on, off] of [['pointerover', 'pointerout'], ['focusin', 'focusout']]) {
    document.addEventListener(on, (e) => {
      const link = e.pointerType !== 'touch' && linkAt(e)
      if (link) show(link)
    })
    document.addEventListener(off, (e) => { if (now.shown && linkAt(e)) hide() })
  }
  document.addEventListener('click', (e) => {
    const link = linkAt(e)
    if (e.pointerType !== 'touch' || !link || link === now.tapped || link.dataset.to) {
      if (now.tapped) hide()
      now.tapped = null
      return
    }
    e.preventDefault()
    e.stopPropagation()
    now.tapped = link
    show(link)
  }, true)
}
