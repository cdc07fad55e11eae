// The ways to a model on the start page: one command at a time, to copy. The section
// goes by itself once an agent with a model is found.

import { getJSON } from './api.js'
import { beside, turnOn } from './radio.js'

const wait = 5000 // milliseconds between two looks for an agent, while the page is seen

/** Shows the command of one way. */
function choose(box, tab) {
  turnOn(tab)
  const to = [...box.querySelectorAll('[role=radio]')].indexOf(tab)
  box.querySelectorAll('.way').forEach((way, i) => { way.hidden = i !== to })
  tab.focus()
}

function key(box, e) {
  const to = e.target.matches('[role=radio]') && beside(e.target, e.key)
  if (!to) return
  e.preventDefault()
  choose(box, to)
}

/** Copies a command; where the browser does not let us, it is selected for the reader's own keys. */
export async function copyCommand(button) {
  const words = button.querySelector('span')
  const code = button.previousElementSibling
  try {
    await navigator.clipboard.writeText(code.textContent)
    words.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(code)
    words.textContent = 'Copy it from here'
  }
  setTimeout(() => { words.textContent = 'Copy' }, 2000)
}

async function look(box) {
  if (!box.isConnected || box.closest('[hidden]')) return
  setTimeout(look, wait, box)
  if (document.hidden) return
  const without = document.getElementById('composer').dataset.noModel.split(' ')
  const list = await getJSON('/api/backends').catch(() => [])
  if (list.some((b) => b.available && !without.includes(b.name))) location.reload() // what is typed is kept as a draft
}

export function ways() {
  const box = document.querySelector('[data-connect]')
  if (!box) return
  box.addEventListener('keydown', (e) => key(box, e))
  box.addEventListener('click', (e) => {
    const tab = e.target.closest('[role=radio]')
    if (tab) choose(box, tab)
    const button = e.target.closest('[data-copy]')
    if (button) copyCommand(button)
  })
  setTimeout(look, wait, box)
}
