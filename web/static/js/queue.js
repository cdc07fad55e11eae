// Frames wait here and are applied in slices of a few milliseconds, so that a
// burst of thousands never freezes the tab. Slices follow each other by
// messages, which a hidden tab gets without delay; requestAnimationFrame is not
// called there at all.

import { apply } from './ops.js'

const slice = 8 // milliseconds
const long = 40 // when much waits: what is in between, layout above all, happens less often
const much = 200 // operations
const before = []
const after = []
const channel = new MessageChannel()
const last = new Map() // what a replacement is of → the newest one that waits
/** The frames that wait. */
const line = {
  waiting: [],
  head: 0, // of what waits; before it everything is done
  scheduled: false,
}

channel.port1.onmessage = run

/** Calls f before each slice. */
export function onApply(f) { before.push(f) }

/** Calls f after each slice. */
export function onApplied(f) { after.push(f) }

/** Queues operations; done is called when they are in the page. */
export function push(ops, done) {
  for (const op of ops) {
    const key = whole(op)
    if (key) {
      // Of several replacements of the same thing only the last one shows.
      const older = last.get(key)
      if (older) older.a = ''
      last.set(key, op)
    }
    line.waiting.push(op)
  }
  if (done) line.waiting.push(done)
  schedule()
}

/** Forgets what waits: something newer holds all of it. */
export function reset() {
  line.waiting = []
  line.head = 0
  last.clear()
}

const whole = ({ a, t }) => (a === 'put' || a === 'update' ? `${a} ${t}` : '')

function schedule() {
  if (line.scheduled) return
  line.scheduled = true
  channel.port2.postMessage(0)
}

function take(op) {
  if (typeof op === 'function') return op()
  const key = whole(op)
  if (key) last.delete(key)
  apply(op)
}

function run() {
  line.scheduled = false
  for (const f of before) f()
  const end = performance.now() + (line.waiting.length - line.head > much ? long : slice)
  while (line.head < line.waiting.length && performance.now() < end) take(line.waiting[line.head++])
  if (line.head === line.waiting.length) reset()
  for (const f of after) f()
  if (line.head < line.waiting.length) schedule()
}
