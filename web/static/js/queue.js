// Frames wait here and are applied in slices of a few milliseconds, so that a
// burst of thousands never freezes the tab. Slices follow each other by
// messages, which a hidden tab gets without delay; requestAnimationFrame is not
// called there at all.

import { apply } from './ops.js'

const slice = 8 // milliseconds
const waiting = []
const after = []
const channel = new MessageChannel()
let scheduled = false

channel.port1.onmessage = run

/** Calls f after each slice. */
export function onApplied(f) { after.push(f) }

/** Queues operations; done is called when they are in the page. */
export function push(ops, done) {
  for (const op of ops) waiting.push(op)
  if (done) waiting.push(done)
  schedule()
}

/** Forgets what waits: something newer holds all of it. */
export function reset() { waiting.length = 0 }

function schedule() {
  if (scheduled) return
  scheduled = true
  channel.port2.postMessage(0)
}

/** Of several whole replacements of the same thing only the last one shows. */
function superseded() {
  if (waiting.length < 32) return null
  const last = new Map()
  waiting.forEach((op, i) => {
    if (op.a === 'replace' || op.a === 'text' || op.a === 'attr') last.set(`${op.a} ${op.t} ${op.n ?? ''}`, i)
  })
  return (op, i) => (op.a === 'replace' || op.a === 'text' || op.a === 'attr') && last.get(`${op.a} ${op.t} ${op.n ?? ''}`) !== i
}

function run() {
  scheduled = false
  const end = performance.now() + slice
  const old = superseded()
  let i = 0
  for (; i < waiting.length; i++) {
    const op = waiting[i]
    if (typeof op === 'function') op()
    else if (!old?.(op, i)) apply(op)
    if (performance.now() > end) { i++; break }
  }
  waiting.splice(0, i)
  for (const f of after) f()
  if (waiting.length) schedule()
}
