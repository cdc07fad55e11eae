// What is pinned: the server keeps it beyond its life, and nothing closes its tab.

import { path, post } from './api.js'
import { announce } from './announce.js'
import { paneOf } from './pane.js'
import { reading, rowOf, tabWith } from './tabs.js'
import { failed } from './toast.js'

/** Reports to the server, one after the other. */
const line = {
  told: Promise.resolve(), // the server hears of one after the other
}

/** Keeps a tab at the end of the strip, where nothing closes it. */
export function pin(tab = reading()) {
  if (!tab) return
  const pinned = !tab.pinned
  const mark = (on) => {
    tab.pinned = on
    rowOf(tab.out)?.toggleAttribute('data-pinned', on)
    const words = paneOf(tab.key)?.querySelector('[data-pin]')
    if (words) words.hidden = !on
    document.dispatchEvent(new Event('webchat:tabs'))
  }
  mark(pinned)
  announce(pinned ? `${tab.base} is pinned` : `${tab.base} is not pinned`)
  if (tab.call || tab.state === 'gone') return
  const { out } = tab
  // A frame that was drawn before the server knew may have taken the mark away meanwhile.
  line.told = line.told.then(() => post(path(`/outputs/${out}/pin`), { pinned })).then(() => { if (tab.out === out) mark(pinned) }, (err) => { mark(!pinned); failed(err) })
}

/** Pins an output as soon as the page knows of it. */
export function pinNew(out) {
  const there = () => {
    if (!tabWith(out)) return
    document.removeEventListener('webchat:frame', there)
    pin(tabWith(out))
  }
  document.addEventListener('webchat:frame', there)
  there()
}
