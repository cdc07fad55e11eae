// Brings older turns into the page, the same HTML a reload would show, and gives them back.

import { getText } from './api.js'
import { fragment } from './html.js'

/** Reads the page at href and returns what puts its turns before the present ones. */
export async function load(href) {
  const page = fragment(await getText(href))
  return (doc) => {
    if (doc.querySelector('#earlier a')?.href !== href) return // turns were given back meanwhile, so these no longer fit
    const turns = doc.getElementById('turns')
    const older = page.querySelector('#turns')
    turns.prepend(...[...older.children].filter((el) => !doc.getElementById(el.id)))
    const link = page.querySelector('#earlier')
    doc.getElementById('earlier')?.remove()
    if (link) turns.before(link)
  }
}

const most = 100 // times that earlier turns are loaded for one link
/** Links to turns that are not there. */
const links = {
  wanted: 0, // links whose turns are being loaded
}

/** Loads earlier turns until the element is there; null if it is in none of them. */
export async function reach(id) {
  links.wanted++
  try {
    for (let i = 0; i < most; i++) {
      const el = document.getElementById(id)
      const link = document.querySelector('#earlier a[data-earlier]')
      if (el || !link) return el
      ;(await load(link.href))(document)
    }
    return null
  } finally {
    links.wanted--
  }
}

/** Gives back all but so many turns, as a reload would; those in use stay, and what is newer. */
export function shorten(keep) {
  if (links.wanted) return
  const turns = document.getElementById('turns')
  const chosen = getSelection()
  const used = (el) => el.contains(document.activeElement) || el.matches(':target, :has(:target, [data-state=running], [aria-busy=true])') || (!chosen.isCollapsed && chosen.containsNode(el, true))
  const old = [...turns.children].slice(0, -keep)
  const first = old.findIndex(used)
  if (first >= 0) old.length = first
  while (old.length && !old.at(-1).nextElementSibling.dataset.from) old.pop()
  if (!old.length) return
  const { from } = old.at(-1).nextElementSibling.dataset
  for (const el of old) el.remove()
  const earlier = document.getElementById('earlier')
  const link = earlier.querySelector('a')
  link.href = `?before=${from}`
  link.dataset.earlier = from
  earlier.hidden = false
}
