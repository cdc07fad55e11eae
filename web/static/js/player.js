// Audio and video: the browser's own element plays them, from a route that gives nothing else.

import { base } from './base.js'
import { clone } from './html.js'

/** Makes the view of audio or video of state, as paneviews.js has it. */
export function player(state) {
  const { root, pane, view, of } = state
  const { root: box, parts } = clone(`tpl-${view}`)
  parts.media.setAttribute('aria-label', pane.dataset.base)
  parts.media.addEventListener('error', () => { parts.not.hidden = false })
  parts.media.src = `${base}/api/outputs/${of}/media`
  root.append(box)
  state.load = () => null // it has no rows
}
