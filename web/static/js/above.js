// Sheets above the composer, which stays usable: one at a time. Where it stands at the top of the
// page, they are below it.

/** The sheet above the composer. */
const sheetNow = {
  shown: '', // the id of the one that is
  from: '', // and of what it belongs to, which gets the focus back
}

const margin = 8 // pixels from the window's edge

/** Puts a sheet where there is more room, and lets it be as high as that. */
function place(sheet) {
  const box = document.getElementById('composer').getBoundingClientRect()
  const top = box.top - document.getElementById('bar').getBoundingClientRect().bottom - 2 * margin
  const bottom = innerHeight - document.getElementById('meter').getBoundingClientRect().bottom - 2 * margin
  const below = top < sheet.scrollHeight && bottom > top
  sheet.classList.toggle('below', below)
  sheet.style.maxHeight = `${Math.max(120, below ? bottom : top)}px`
}

/** Shows a sheet, or takes it away. */
export function above(id, opener) {
  if (sheetNow.shown && sheetNow.shown !== id) above(sheetNow.shown, sheetNow.from)
  const sheet = document.getElementById(id)
  const held = sheet.contains(document.activeElement)
  sheet.hidden = !sheet.hidden
  if (!sheet.hidden) place(sheet)
  sheetNow.shown = sheet.hidden ? '' : id
  sheetNow.from = opener
  const button = document.getElementById(opener)
  if (button?.hasAttribute('aria-expanded')) button.setAttribute('aria-expanded', String(!sheet.hidden))
  if (sheet.hidden) document.removeEventListener('keydown', shut, true)
  else document.addEventListener('keydown', shut, true)
  if (held) button?.focus()
}

/** Takes away the sheet that hides a question, unless one types in it. */
export function lower() {
  if (sheetNow.shown && !document.getElementById(sheetNow.shown).contains(document.activeElement)) above(sheetNow.shown, sheetNow.from)
}

function shut(e) {
  if (e.key !== 'Escape' || e.defaultPrevented || document.querySelector('dialog[open], :popover-open, #menu:not([hidden])')) return
  if (e.target.matches('input, textarea:not(#prompt)') && !document.getElementById(sheetNow.shown).contains(e.target)) return // its own
  e.preventDefault()
  e.stopPropagation()
  above(sheetNow.shown, sheetNow.from)
}
