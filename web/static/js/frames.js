// Frames for what others wrote. Each has an origin of its own and loads nothing; HTML runs no script,
// and a diagram only those that draw it. The page of an MCP server runs its own: appview.js.

import { base } from './base.js'
import { isDark } from './dark.js'

/** A frame in a sandbox that allows that much. */
export function frameOf(sandbox, title, address) {
  const frame = document.createElement('iframe')
  frame.className = 'frame'
  frame.setAttribute('sandbox', sandbox)
  frame.referrerPolicy = 'no-referrer'
  frame.title = title
  frame.src = base + address
  return frame
}

function said(sentence) {
  const p = document.createElement('p')
  p.className = 'frame-said'
  p.textContent = sentence
  return p
}

/** A frame with the page of an output, and the sentence above it. */
export function page(output, name, query = '') {
  return [said('Without scripts and network: what the page would run or load is missing.'),
    frameOf('', `${name} as a page`, `/api/outputs/${output}/page${query && `?${query}`}`)]
}

const patience = 10_000 // ms until a diagram is drawn
const longest = 20_000 // characters of a diagram's source
const tallest = 4000 // pixels
const most = 4 // diagrams at once
const drawn = new Map() // frame → what puts the source back in its place, the oldest first

/** Draws the diagram that a button stands above: its source folds, and is back if it cannot be drawn. */
export function diagram(button) {
  const block = button.parentElement
  const pre = block.querySelector('pre')
  const text = pre.textContent
  const dark = isDark()
  const frame = frameOf('allow-scripts', `Diagram: ${text.trim().split('\n', 1)[0].slice(0, 80)}`, '/diagram')
  frame.classList.add('diagram')
  frame.tabIndex = -1
  frame.style.colorScheme = dark ? 'dark' : 'light'
  const fold = document.createElement('details')
  const name = document.createElement('summary')
  fold.className = 'fold'
  name.textContent = 'Source'
  const over = new AbortController()
  const back = (above) => {
    clearTimeout(timer)
    over.abort()
    drawn.delete(frame)
    const within = block.contains(document.activeElement)
    block.replaceChildren(above, pre)
    if (within) pre.focus({ preventScroll: true })
  }
  const fail = () => back(said('This diagram could not be drawn: its source is shown.'))
  const timer = setTimeout(fail, patience)
  addEventListener('message', ({ source, data }) => {
    if (!frame.isConnected || source !== frame.contentWindow) return
    if (!(data > 0)) return fail()
    clearTimeout(timer)
    frame.style.height = `${Math.min(Math.ceil(data), tallest)}px`
  }, { signal: over.signal })
  // The frame's opaque origin has no name.
  frame.addEventListener('load', () => frame.contentWindow.postMessage({ text, dark }, '*'))
  block.replaceChildren(frame, fold)
  fold.append(name, pre)
  name.focus()
  for (const [shown, end] of drawn) if (!shown.isConnected || drawn.size >= most) end(button.cloneNode(true))
  drawn.set(frame, back)
  if (text.length > longest) fail()
}
