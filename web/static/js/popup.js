// A small menu beside a button: arrows move, Enter takes, Escape and a click
// elsewhere leave.

import { clone } from './html.js'

/** The one menu that is open. */
const menu = {
  box: null,
  owner: null,
}

function closePopup(refocus) {
  if (!menu.box) return
  menu.box.remove()
  if (menu.owner.ariaHasPopup) menu.owner.setAttribute('aria-expanded', 'false')
  if (refocus) menu.owner.focus({ preventScroll: true })
  menu.box = menu.owner = null
}

/** Opens entries [{label, about, bad, icon, run}] at button, or at a place on what it belongs to; a second time closes it. */
export function popup(button, entries, at = button.getBoundingClientRect()) {
  if (menu.owner === button) return closePopup(true)
  closePopup(false)
  menu.owner = button
  menu.box = document.createElement('div')
  menu.box.className = 'menu at-row'
  menu.box.setAttribute('role', 'menu')
  menu.box.append(...entries.map((entry) => {
    const { root, parts } = clone('tpl-item')
    root.setAttribute('role', 'menuitem')
    root.removeAttribute('aria-selected')
    root.tabIndex = -1
    parts.about.textContent = entry.label
    if (entry.icon) root.querySelector('use')?.setAttribute('href', `#i-${entry.icon}`)
    if (entry.about) {
      parts.end.className = 'about'
      parts.end.classList.toggle('fail', Boolean(entry.bad))
      parts.end.textContent = entry.about
    }
    root.addEventListener('click', () => { closePopup(true); entry.run() })
    return root
  }))
  ;(button.closest('#side, main, dialog, #desk') ?? document.body).append(menu.box) // in a landmark or dialog, outside of any card
  menu.box.style.left = `${Math.max(4, Math.min(at.left, innerWidth - menu.box.offsetWidth - 4))}px`
  menu.box.style.top = `${at.bottom + menu.box.offsetHeight + 4 > innerHeight ? at.top - menu.box.offsetHeight - 4 : at.bottom + 4}px`
  if (button.ariaHasPopup) button.setAttribute('aria-expanded', 'true')
  menu.box.firstElementChild.focus()
}

export function popups() {
  document.addEventListener('keydown', (e) => {
    if (!menu.box) return
    const all = [...menu.box.children]
    const now = all.indexOf(document.activeElement)
    if (e.key === 'ArrowDown') all[(now + 1) % all.length].focus()
    else if (e.key === 'ArrowUp') all[(now - 1 + all.length) % all.length].focus()
    else if (e.key === 'Home') all[0].focus()
    else if (e.key === 'End') all.at(-1).focus()
    else if (e.key === 'Enter' || e.key === ' ') all[now]?.click()
    else if (e.key === 'Escape' || e.key === 'Tab') closePopup(true)
    else if (e.key.length === 1 && !e.ctrlKey && !e.metaKey && !e.altKey) { // the next that begins with this letter
      [...all.slice(now + 1), ...all].find((el) => el.textContent.trim().toLowerCase().startsWith(e.key.toLowerCase()))?.focus()
    } else return
    e.preventDefault()
    e.stopPropagation()
  }, true)
  document.addEventListener('pointerdown', (e) => {
    if (menu.box && !menu.box.contains(e.target) && !(menu.owner.ariaHasPopup && menu.owner.contains(e.target))) closePopup(false)
  })
}
