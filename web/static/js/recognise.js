// A text that asks to see something, and nothing else, needs no model. While it is typed
// the server says what it would show: that stands below the field, and the button says
// what Enter does. Until it is known, and for all other texts, that is to send.

import { folder, getJSON } from './api.js'
import { asker } from './latest.js'
import { clone, plain } from './html.js'
import { parse } from './commands.js'
import { failed, toast } from './toast.js'

const composer = document.getElementById('composer')
const key = 'webchat.enter' // 'ask': Enter asks the agent, and Alt Enter looks
const longest = 300 // bytes of a text that may be a look
const question = asker()
/** What the text in the composer would show. */
const guess = {
  known: { text: '', looks: [] }, // the last answer
  at: 0, // which of the files that fit
  shown: false, // what is known stands there, and so counts
}

const reversed = () => localStorage.getItem(key) === 'ask'

/** The display that a way to send the text takes: Enter, or other: Alt Enter; null: the text goes to the agent. */
export const meantLook = (text, other) => (guess.shown && text.trim() === guess.known.text && other === reversed() ? guess.known.looks[guess.at] : null)

function draw() {
  const look = guess.known.looks[guess.at]
  const was = composer.querySelector('.free')
  guess.shown = Boolean(look)
  if (!look) was?.remove()
  else {
    const { root, parts } = clone('tpl-free')
    const slash = look.path.lastIndexOf('/') + 1
    parts.dir.textContent = plain(look.path.slice(0, slash))
    parts.base.textContent = plain(look.path.slice(slash))
    parts.others.textContent = guess.known.looks.length > 1 ? `${guess.known.looks.length} fit, Tab for ${guess.known.looks.length > 2 ? 'another' : 'the other'}` : ''
    was ? was.replaceWith(root) : composer.querySelector('.write').after(root)
  }
  const looks = Boolean(look) && !reversed()
  const own = !look && Boolean(parse(composer.querySelector('textarea').value).display) // /show, !
  const send = composer.querySelector('button[data-act=send]')
  composer.toggleAttribute('data-looks', looks || own)
  send.ariaLabel = looks || own ? 'Look, 0 tokens (Enter)' : 'Send (Enter)'
  const other = composer.querySelector('[data-act=other-way]')
  other.hidden = !look
  other.querySelector('span').textContent = looks ? 'Ask the agent' : 'Look · 0 tokens'
}

/** Finds out what the text in the field means. */
export async function recognise(text) {
  const asked = text.trim()
  if (guess.shown && asked === guess.known.text) return
  question.drop()
  guess.at = 0
  guess.known = { text: asked, looks: [] }
  draw()
  if (!asked || asked.length > longest || /[\n@]/.test(asked) || /^[/!]/.test(asked)) return
  try {
    const { looks } = await getJSON(`/api/looks?workspace=${encodeURIComponent(folder())}&text=${encodeURIComponent(asked)}`, { signal: question.begin() })
    if (guess.known.text !== asked) return
    guess.known = { text: asked, looks }
    draw()
  } catch (err) {
    if (err.name !== 'AbortError' && err.status) failed(err)
  }
}

/** Chooses another one of the files that fit; false: there is none. */
export function another() {
  if (!guess.shown || guess.known.looks.length < 2) return false
  guess.at = (guess.at + 1) % guess.known.looks.length
  draw()
  return true
}

/** What Enter does with a look, in this browser: empty, it looks, or ask. */
export const enter = {
  now: () => (reversed() ? 'ask' : ''),
  set(value) {
    if (value) localStorage.setItem(key, value)
    else localStorage.removeItem(key)
    draw()
  },
}

/** Turns round what Enter and Alt Enter do with a look. */
export function turnRound() {
  enter.set(reversed() ? '' : 'ask')
  toast(reversed() ? 'Enter asks the agent, Alt Enter looks' : 'Enter looks, Alt Enter asks the agent')
}
