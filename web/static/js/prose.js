// Names of files in answers become links that open on the Desk, which costs nothing:
// pump.go, pump_test.go:88 where the server finds such a file, and "lines 62–72" of what
// was shown last before it.

import { getJSON, path, session } from './api.js'
import { openOutput } from './desk.js'
import { failed } from './toast.js'

const wait = 300 // milliseconds after the last change of a text
const atOnce = 100 // names asked for in one request
const most = 1000 // names of one text that are asked for
const slice = 8 // milliseconds of marking between two looks at what else is to be done
const named = /(?<![\w/:.@+~-])((?:[\w.@+~-]+\/)*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,9})(?::(\d{1,7})(?:[-–](\d{1,7}))?)?(?![\w/]|\.\w)|\b[Ll]ines? (\d{1,7})(?:\s?(?:[-–]|to)\s?(\d{1,7}))?/g
const known = new Map() // name → path, or '' where there is none
const watch = new MutationObserver(seen)
const later = { waiting: new Set(), timer: 0 }

/** The texts of an answer in which names may stand, as one asks for them: not those of blocks of code, nor of links. */
function* texts(el) {
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (n) => (n.nodeType === Node.TEXT_NODE ? NodeFilter.FILTER_ACCEPT : n.matches('pre, a') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP))
  while (walk.nextNode()) yield walk.currentNode
}

/** The output that stood last before an element. */
function shownBefore(el) {
  const before = [...document.querySelectorAll('#turns [data-card][data-output]:is([data-kind=file], [data-kind=terminal])')].filter((c) => c.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING)
  return before.at(-1)?.dataset.output
}

/** Calls f for each of a list, in slices between which the page does what else it has to. */
async function inSlices(list, f) {
  let end = performance.now() + slice
  for (const one of list) {
    if (performance.now() > end) {
      await new Promise((done) => setTimeout(done))
      end = performance.now() + slice
    }
    f(one)
  }
}

/** Makes links of the files that an answer or a preview names. */
export async function look(said) {
  if (said.closest('pre, a')) return
  const names = new Set()
  const found = []
  await inSlices(texts(said), (node) => {
    const all = [...node.data.matchAll(named)]
    if (all.length) found.push({ node, all })
    for (const [, name] of all) if (name && !known.has(name) && names.size < most) names.add(name)
  })
  for (let rest = [...names]; rest.length; rest = rest.slice(atOnce)) {
    const asked = rest.slice(0, atOnce)
    const { places } = await getJSON(path(`/places?${asked.map((n) => `name=${encodeURIComponent(n)}`).join('&')}`))
    for (const name of asked) known.set(name, places[name] ?? '')
  }
  const output = shownBefore(said)
  await inSlices(found, ({ node, all }) => { if (node.isConnected) mark(node, all, output) })
}

/** Makes links of what a text names; lines are those of output. */
function mark(node, all, output) {
  const marked = document.createDocumentFragment()
  let at = 0
  for (const m of all) {
    const link = linkTo(m, output)
    if (!link) continue
    link.textContent = m[0]
    marked.append(node.data.slice(at, m.index), link)
    at = m.index + m[0].length
  }
  if (!at) return
  marked.append(node.data.slice(at))
  node.replaceWith(marked)
  watch.takeRecords() // what it did itself is no change of the text
}

/** The link of what was found in a text; nothing if it leads nowhere. */
function linkTo([, name, line, to, a, b], output) {
  if (name ? !known.get(name) : !output) return null
  const link = document.createElement('a')
  if (name) {
    link.className = 'at-src'
    link.href = '#src'
    link.dataset.path = known.get(name)
    if (line) link.dataset.line = to ? `${line}-${to}` : line
  } else {
    link.className = 'ref'
    link.href = `#out/${output}:${a}${b ? `-${b}` : ''}`
  }
  return link
}

function run() {
  later.timer = 0
  if (!session()) return
  for (const answer of later.waiting) {
    if (answer.isConnected && answer.closest('[aria-busy=true]')) continue // its end comes here again
    later.waiting.delete(answer)
    if (answer.isConnected) look(answer).catch(() => { /* they stay text */ })
    if (answer.matches('.other')) import('./document.js').then((m) => m.reading(answer.closest('[data-card]'), answer)).catch(failed)
  }
}

function add(answer) {
  later.waiting.add(answer)
  clearTimeout(later.timer)
  later.timer = setTimeout(run, wait)
}

/** What an answer became part of, or grew by, is looked at once it rests. */
function seen(changes) {
  const all = new Set()
  for (const { target, addedNodes } of changes) {
    const answer = target.closest?.('.said')
    if (answer) all.add(answer)
    else for (const el of addedNodes.length ? addedNodes : [target]) for (const one of el.querySelectorAll?.('.said') ?? []) all.add(one)
  }
  for (const answer of all) add(answer)
}

export function references() {
  const turns = document.getElementById('turns')
  if (!turns) return
  watch.observe(turns, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'] })
  for (const el of turns.querySelectorAll('.said')) add(el)
  document.addEventListener('click', (e) => {
    const ref = e.target.closest?.('#turns a.ref')
    if (!ref || e.ctrlKey || e.metaKey || e.shiftKey) return
    e.preventDefault()
    const [, out, lines] = /^#out\/([^:]+):(.*)$/.exec(ref.hash)
    openOutput(out, { lines })
  })
}
