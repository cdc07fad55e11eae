// The first failure of a command stands above what it printed, also while it runs.

import { getJSON } from './api.js'
import { clone } from './html.js'
import { ask as handOver } from './give.js'
import { ask } from './reading.js'
import { tabOf } from './tabs.js'
import { failed } from './toast.js'
import { viewerOf } from './viewer.js'

const wait = 1000 // milliseconds between two looks at what runs
const found = new Map() // output → the banner of its first failure

/** Looks for the first failure of a command, while it runs again and again, and then until all was searched. */
export async function watchFailure(pane) {
  const { output } = pane.dataset
  while (output && pane.isConnected) {
    const running = pane.dataset.state === 'running'
    let more = false
    if (!running && !pane.querySelector('.exit.no')) { // it went well in the end
      found.get(output)?.remove()
      return
    }
    try {
      if (!found.has(output)) more = await look(pane, output)
      if (found.has(output)) return await put(pane, found.get(output))
    } catch (err) {
      if (err.status === 404) return
      failed(err)
    }
    if (!running && !more) return
    if (running) await new Promise((done) => setTimeout(done, wait))
  }
}

/** Returns whether there is more to look at, at once. */
async function look(pane, output) {
  const { html, head } = await ask(pane, 'failure', 1, 1)
  const about = head.get('Webchat-Failure')
  if (!about || !html.firstElementChild) return head.has('Webchat-Partial')
  const { root, parts } = clone('tpl-first')
  root.dataset.lines = about
  parts.what.append(html)
  found.set(output, root)
  getJSON(`/api/outputs/${output}?tokens&lines=${about}&veil=1`).then(({ tokens }) => { parts.price.textContent = `+${tokens.toLocaleString('en')}` }, () => {})
  return false
}

/** What has ended stands at its first failure, unless it was read already. */
async function put(pane, root) {
  if (root.parentElement !== pane) pane.querySelector('.view').before(root)
  pane.dispatchEvent(new Event('webchat:failure', { bubbles: true }))
  const over = pane.dataset.state === 'done'
  root.querySelector('[data-act=ask-failure]').hidden = !over
  if (over && tabOf(pane.dataset.key)?.place?.read !== pane.dataset.output) await goTo(root)
}

function goTo(root) {
  const v = viewerOf(root.closest('[data-pane]'))
  if (v) v.following = false
  return v?.line(Number(root.dataset.lines.split('-')[0]))
}

export function failures() {
  document.addEventListener('click', (e) => {
    const root = e.target.closest?.('.failure')
    const act = root && e.target.closest('[data-act]')?.dataset.act
    if (act === 'to-failure') goTo(root).catch(failed)
    if (act !== 'ask-failure') return
    const [from, to] = root.dataset.lines.split('-').map(Number)
    handOver(root.closest('[data-pane]'), { from, to })
  })
}
