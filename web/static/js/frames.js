// Frames for what others wrote as HTML. Each has an origin of its own, runs no script and loads nothing.

import { base } from './base.js'

/** A frame with the page of an output, and the sentence above it. */
export function page(output, name, query = '') {
  const said = document.createElement('p')
  said.className = 'frame-said'
  said.textContent = 'Without scripts and network: what the page would run or load is missing.'
  const frame = document.createElement('iframe')
  frame.className = 'frame'
  frame.setAttribute('sandbox', '')
  frame.referrerPolicy = 'no-referrer'
  frame.title = `${name} as a page`
  frame.src = `${base}/api/outputs/${output}/page${query && `?${query}`}`
  return [said, frame]
}
