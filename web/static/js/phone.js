// What a phone has no room for stands in two menus: where the bar leads, and what the composer can
// do. Each entry presses the button that wider windows show.

import { popup } from './popup.js'
import { openShelf } from './shelf.js'

const composer = document.getElementById('composer')
const app = document.getElementById('app')
const press = (selector) => () => document.querySelector(selector)?.click()
const words = (id) => document.getElementById(id)?.textContent.replace(/\s+/g, ' ').trim()

/** Where the bar leads. */
function leads(button) {
  const desk = app.classList.contains('has-desk') ? [
    { label: 'Desk', icon: 'rail', run: press('.sheet-back') },
    { label: 'All outputs', icon: 'file', run: () => openShelf(button) },
  ] : []
  popup(button, [...desk,
    { label: 'Search', icon: 'search', run: press('#bar [data-act=open-bar]') },
    { label: 'New session', icon: 'pen', run: press('#bar [data-act=new]') },
    { label: 'Settings', icon: 'sliders', run: press('#side [data-act=settings]') },
  ])
}

/** What the composer can do. */
function does(button) {
  const stays = document.getElementById('stays')
  const ways = composer.dataset.status === 'idle' ? [] : [...composer.querySelectorAll('[data-mode]')].map((b) => ({
    label: b.dataset.mode === 'queue' ? 'Send when the agent is done' : 'Send at once',
    icon: b.ariaPressed === 'true' ? 'check' : 'send',
    run: () => b.click(),
  }))
  popup(button, [
    { label: 'Attach a file', icon: 'clip', run: press('#composer [data-act=attach]') },
    { label: 'Add a workspace file', icon: 'at', run: press('#composer [data-act=at]') },
    { label: words('pick') || 'Agent and model', icon: 'chip', run: press('#composer [data-act=pick]') },
    ...(stays && !stays.hidden ? [{ label: words('stays'), icon: stays.querySelector('use').getAttribute('href').slice(3), run: () => stays.click() }] : []),
    ...ways,
  ])
}

/** Opens the menu of a button. */
export const more = (button) => (button.dataset.act === 'plus' ? does : leads)(button)
