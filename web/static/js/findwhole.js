// Find on the Desk: the server counts all hits, says where the one before and behind
// is, and shows only the lines that match.

import { getJSON } from './api.js'
import { viewerOf } from './viewer.js'

const around = 100 // lines above and below the screen whose hits are marked
const few = 5000 // lines: all hits of an output that has no more are marked
const again = 300 // milliseconds between two looks at a count that goes on

const address = (state, rest) => `/api/outputs/${state.card.dataset.output}?veil=1&${rest}`
const query = (state) => encodeURIComponent(state.re)
const ask = (state, rest) => getJSON(address(state, rest), { signal: state.asking.signal })

/** Counts all hits, and goes to the next or the one before. */
export async function go(state, step) {
  const from = state.line ?? viewerOf(state.card)?.seen.from ?? 1
  const c = await count(state, step > 0 && state.line ? state.line + 1 : from || 1)
  if (c.total) {
    const wraps = step > 0 ? !c.next : !c.previous
    state.line = step > 0 ? c.next || c.first : c.previous || c.last
    state.number = step > 0 ? (wraps ? 1 : c.before + 1) : (wraps ? c.total : c.before)
    if (state.only) only(state, true)
    await viewerOf(state.card)?.line(state.line, state.only ? state.number - 1 : undefined)
    await near(state)
  } else {
    state.hits = []
    if (state.only) only(state, false)
  }
  if (!c.complete) goOn(state)
}

async function count(state, at) {
  const c = await ask(state, `count=${query(state)}&at=${at}`)
  Object.assign(state, { total: c.total, complete: c.complete, leftOut: c.leftOut })
  return c
}

/** Looks again until all is counted. */
async function goOn(state) {
  const { re, asking } = state
  try {
    while (!state.complete) {
      await new Promise((done) => setTimeout(done, again))
      if (state.re !== re || !state.root.isConnected || asking !== state.asking) return
      await count(state, state.line ?? 1)
      state.tell()
    }
  } catch { /* the next key counts anew */ }
}

/** Gets the hits on the screen, so that they can be marked. */
export async function near(state) {
  const v = viewerOf(state.card)
  if (!v || !state.re) return
  const { from, to } = v.seen
  if (!from || !to) return
  const wide = v.last - v.first < few ? few : around
  const a = Math.max(v.first, state.only ? from : from - wide)
  const b = state.only ? to : to + wide
  state.near = [a, b]
  const found = await ask(state, `format=json&grep=${query(state)}&lines=${a}-${Math.max(a, b)}`)
  state.hits = found.matches ?? []
  state.at = state.hits.findIndex((hit) => hit.line === state.line)
}

/** Whether there are rows on the screen whose hits are not known. */
export function beyond(state) {
  const v = viewerOf(state.card)
  if (!v || !state.re) return false
  const { from, to } = v.seen
  return Boolean(from && to && (!state.near || from < state.near[0] || to > state.near[1]))
}

/** Shows only the lines that match, or all of them; the hit stays where it is. */
export function only(state, on) {
  const v = viewerOf(state.card)
  if (!v) return
  state.only = on && Boolean(state.re && state.total)
  state.near = null
  if (!state.only && !v.only) return
  if (state.only && v.only?.re === state.re && v.only.total === state.total) return
  v.filter(state.only ? state.re : '', state.total, (state.number ?? 1) - 1, state.line ?? v.seen.from)
}
