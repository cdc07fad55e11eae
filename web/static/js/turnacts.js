// What can be done with an answer. The buttons stand at the end of the last turn, and of the one
// that is pointed at or has the focus: no other costs anything.

import { longPress } from './fingers.js'
import { clone } from './html.js'
import { failed, toast } from './toast.js'

const turns = document.getElementById('turns')
const last = () => [...turns.querySelectorAll('.turn:not([data-look])')].at(-1)

const saidIn = (turn) => [...turn.querySelectorAll('.turn-b > .row > div > .said')].at(-1)

function put(turn) {
  if (turn.querySelector(':scope > .turn-acts')) return
  const said = saidIn(turn)
  if (!said || said.ariaBusy === 'true' || turn.dataset.state === 'running') return
  const row = turn.querySelector(':scope > .ask-row')
  const { root } = clone('tpl-said-acts')
  for (const b of root.querySelectorAll('[data-act=retry], [data-act=edit], [data-act=branch]')) b.hidden = !row
  turn.append(root)
}

/** Puts the buttons where they belong, and takes them from where they were. */
function move(turn) {
  const end = last()
  for (const old of turns.querySelectorAll('.turn-acts')) {
    const own = old.closest('.turn')
    if (own !== turn && own !== end && !own.contains(document.activeElement)) old.remove()
  }
  for (const one of [turn, end]) if (one) put(one)
}

const texts = {
  'copy-prompt': (b) => b.closest('.ask-row').querySelector('h2').textContent,
  'copy-said': (b) => saidIn(b.closest('.turn')).innerText,
}

/** A finger that rests on a prompt brings up what can be done with it, as pointing does. */
function pressed() {
  const find = (el) => !el.closest('button, a') && el.closest('.ask-row')
  longPress(turns, find, (row) => row.querySelector('.prompt-acts button:not([hidden])')?.focus({ preventScroll: true }))
}

export function turnActs() {
  if (!turns) return
  const over = (e) => {
    const turn = e.target.closest?.('#turns .turn')
    if (turn && !turn.querySelector(':scope > .turn-acts')) move(turn)
  }
  turns.addEventListener('pointerover', over)
  pressed()
  turns.addEventListener('focusin', over)
  document.addEventListener('webchat:frame', () => move(null))
  move(null)
  turns.addEventListener('keydown', (e) => {
    if (e.key === 'z' && !e.ctrlKey && !e.metaKey && !e.altKey) e.target.closest('.signed')?.querySelector('[data-act=undo-here]')?.click()
  })
  document.addEventListener('click', (e) => {
    const b = e.target.closest?.('#turns [data-act]')
    const text = b && texts[b.dataset.act]?.(b)
    if (text) navigator.clipboard.writeText(text).then(() => toast('Copied'), failed)
  })
}
