// Names of files in answers become links that open on the Desk, which costs nothing:
// pump.go, pump_test.go:88 where the server finds such a file, and "lines 62–72" of what
// was shown last before it.

import { getJSON, path, session } from './api.js'
import { openOutput } from './desk.js'
import { failed } from './toast.js'

const wait = 300 // milliseconds after the last change of a text
const most = 100 // names asked for at once
const named = /(?<![\w/:.@-])((?:[\w.@+~-]+\/)*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,9})(?::(\d{1,7})(?:[-–](\d{1,7}))?)?(?![\w/]|\.\w)|\b[Ll]ines? (\d{1,7})(?:\s?(?:[-–]|to)\s?(\d{1,7}))?/g
const known = new Map() // name → path, or '' where there is none

/** The texts of an answer in which names may stand: not those of blocks of code, nor of links. */
function texts(el) {
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT, (n) => (n.parentElement.closest('pre, a') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT))
  const all = []
  while (walk.nextNode()) if (walk.currentNode.data.length < 20_000) all.push(walk.currentNode)
  return all
}

/** The output that stood last before an element. */
function shownBefore(el) {
  const before = [...document.querySelectorAll('#turns [data-card][data-output]:is([data-kind=file], [data-kind=terminal])')].filter((c) => c.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_FOLLOWING)
  return before.at(-1)?.dataset.output
}

/** Makes links of the files that an answer or a preview names. */
export async function look(said) {
  const nodes = texts(said)
  const names = new Set()
  for (const node of nodes) for (const m of node.data.matchAll(named)) if (m[1] && !known.has(m[1])) names.add(m[1])
  if (names.size) {
    const asked = [...names].slice(0, most)
    const { places } = await getJSON(path(`/places?${asked.map((n) => `name=${encodeURIComponent(n)}`).join('&')}`))
    for (const name of asked) known.set(name, places[name] ?? '')
  }
  for (const node of nodes) if (node.isConnected) mark(node, said)
}

/** Makes links of what a text names. */
function mark(node, said) {
  for (const m of [...node.data.matchAll(named)].reverse()) {
    const [text, name, line, to, a, b] = m
    const output = name ? '' : shownBefore(said)
    if (name ? !known.get(name) : !output) continue
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
    const range = document.createRange()
    range.setStart(node, m.index)
    range.setEnd(node, m.index + text.length)
    range.surroundContents(link)
  }
}

export function references() {
  const turns = document.getElementById('turns')
  if (!turns) return
  const waiting = new Set()
  let timer = 0
  const run = () => {
    timer = 0
    if (!session()) return
    for (const said of waiting) {
      if (said.isConnected && said.closest('[aria-busy=true]')) continue // its end comes here again
      waiting.delete(said)
      if (said.isConnected) look(said).catch(() => { /* they stay text */ })
      if (said.matches('.other')) import('./document.js').then((m) => m.reading(said.closest('[data-card]'), said)).catch(failed)
    }
  }
  const add = (el) => {
    waiting.add(el)
    clearTimeout(timer)
    timer = setTimeout(run, wait)
  }
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      const said = target.closest?.('.said')
      if (said) add(said)
      else for (const el of addedNodes.length ? addedNodes : [target]) for (const one of el.querySelectorAll?.('.said') ?? []) add(one)
    }
  }).observe(turns, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'] })
  for (const el of turns.querySelectorAll('.said')) add(el)
  document.addEventListener('click', (e) => {
    const ref = e.target.closest?.('#turns a.ref')
    if (!ref || e.ctrlKey || e.metaKey || e.shiftKey) return
    e.preventDefault()
    const [, out, lines] = /^#out\/([^:]+):(.*)$/.exec(ref.hash)
    openOutput(out, { lines })
  })
}
