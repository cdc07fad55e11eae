// Brings older turns into the page: the same HTML a reload would show.

import { getText } from './api.js'
import { fragment } from './html.js'

/** Reads the page at href and returns what puts its turns before the present ones. */
export async function load(href) {
  const page = fragment(await getText(href))
  return (doc) => {
    const turns = doc.getElementById('turns')
    const older = page.querySelector('#turns')
    turns.prepend(...[...older.children].filter((el) => !doc.getElementById(el.id)))
    const link = page.querySelector('#earlier')
    doc.getElementById('earlier')?.remove()
    if (link) turns.before(link)
  }
}
