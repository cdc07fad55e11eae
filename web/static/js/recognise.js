// A text that asks to see something, and nothing else, needs no model. While it is typed
// the server says what it would show: that stands below the field, and the button says
// what Enter does. Enter on a text of that shape waits until it is known; all others are sent.

import { folder, getJSON } from './api.js'
import { announce } from './announce.js'
import { asker } from './latest.js'
import { holdKeys } from './hold.js'
import { clone, plain } from './html.js'
import { parse } from './commands.js'
import { failed, toast } from './toast.js'

const composer = document.getElementById('composer')
const key = 'webchat.enter' // 'ask': Enter asks the agent, and Alt Enter looks
const longest = 300 // bytes of a text that may be a look
const patience = 1000 // milliseconds that Enter waits for the answer
const question = asker()
/** What the text in the composer would show. */
const guess = {
  known: { text: '', looks: null }, // the last answer; null: it is under way
  coming: null, // the answer that is under way
  at: 0, // which of the files that fit
  shown: false, // what is known stands there, and so counts
  open: false, // whether it is a look is not known, and the user was asked
}

/** Whether a text may be nothing but a wish to see something: a verb for it, or a path. */
const shaped = (text) => may(text) && (/\b(?:show|cat|view|open|display)\s+\S/i.test(text) || /^[^\s]*[./][^\s]*$/.test(text))

const may = (text) => text !== '' && text.length <= longest && !/[\n@]/.test(text) && !/^[/!]/.test(text)

const reversed = () => localStorage.getItem(key) === 'ask'

/**
 * The display that a way to send the text takes: Enter, or other: Alt Enter; null: the text goes to the agent. Where that
 * is not known yet it waits for the answer, and asks when none comes: undefined.
 */
export async function meantLook(text, other) {
  const asked = text.trim()
  if (other !== reversed()) return null
  if (!shaped(asked)) return guess.shown && asked === guess.known.text ? guess.known.looks[guess.at] : null
  const again = guess.open // a second Enter says that it is a look
  if (guess.known.text !== asked || !guess.known.looks) {
    say('Looking…')
    const late = new Promise((done) => setTimeout(done, again ? 2 * patience : patience))
    const looks = await holdKeys(Promise.race([answerTo(asked), late]).finally(() => say()))
    if (!looks) return pose(asked)
    guess.open = false
    return looks[0] ?? null
  }
  return guess.known.looks[guess.at] ?? null
}

/** The looks that a text asks for, once they are known. */
async function answerTo(asked) {
  if (guess.known.text === asked) await guess.coming
  if (guess.known.text === asked && guess.known.looks) return guess.known.looks
  return (await ask(asked)).looks
}

const ask = (asked, options) => getJSON(`/api/looks?workspace=${encodeURIComponent(folder())}&text=${encodeURIComponent(asked)}`, options)

/** Says on the button what it waits for. */
function say(words = '') {
  composer.toggleAttribute('data-finding', words !== '')
  composer.querySelector('[data-part=does]').textContent = words || 'Look · 0 tokens'
}

/** Asks whether it is a look: both ways to send it stand there. */
function pose(asked) {
  if (guess.known.text !== asked) return // it was written on
  guess.open = true
  draw()
  announce('The server has not said what this would show. Enter looks, Alt Enter asks the agent')
}

function draw() {
  const look = guess.known.looks?.[guess.at]
  const was = composer.querySelector('.free')
  guess.shown = Boolean(look)
  if (!look && !guess.open) was?.remove()
  else if (!look) {
    const { root, parts } = clone('tpl-free')
    parts.others.textContent = 'No answer yet: look, or ask the agent?'
    was ? was.replaceWith(root) : composer.querySelector('.write').after(root)
  } else {
    const { root, parts } = clone('tpl-free')
    const slash = look.path.lastIndexOf('/') + 1
    parts.dir.textContent = plain(look.path.slice(0, slash))
    parts.base.textContent = plain(look.path.slice(slash))
    parts.others.textContent = guess.known.looks.length > 1 ? `${guess.known.looks.length} fit, Tab for ${guess.known.looks.length > 2 ? 'another' : 'the other'}` : ''
    was ? was.replaceWith(root) : composer.querySelector('.write').after(root)
  }
  const looks = Boolean(look || guess.open) && !reversed()
  const own = !look && Boolean(parse(composer.querySelector('textarea').value).display) // /show, !
  const send = composer.querySelector('button[data-act=send]')
  composer.toggleAttribute('data-looks', looks || own)
  send.ariaLabel = looks || own ? 'Look, 0 tokens (Enter)' : 'Send (Enter)'
  const other = composer.querySelector('[data-act=other-way]')
  other.hidden = !look && !guess.open
  other.querySelector('span').textContent = looks ? 'Ask the agent' : 'Look · 0 tokens'
}

/** Finds out what the text in the field means. */
export function recognise(text) {
  const asked = text.trim()
  if (asked === guess.known.text && (guess.shown || guess.open)) return
  question.drop()
  guess.at = 0
  guess.open = false
  guess.known = { text: asked, looks: may(asked) ? null : [] }
  draw()
  if (!guess.known.looks) guess.coming = find(asked)
}

async function find(asked) {
  try {
    const { looks } = await ask(asked, { signal: question.begin() })
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
