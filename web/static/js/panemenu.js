// What else can be done with what stands on the Desk: the menu in the head of a pane.

import { alone, isAlone } from './alone.js'
import { path, remove } from './api.js'
import { base } from './base.js'
import { run } from './cards.js'
import { confirmed } from './confirm.js'
import { close } from './desk.js'
import { pin } from './pins.js'
import { deskHash, selection } from './select.js'
import { popup } from './popup.js'
import { tabOf } from './tabs.js'
import { failed, toast } from './toast.js'

const narrow = matchMedia('(max-width: 839px)')

async function link(pane) {
  const s = selection(pane)
  await navigator.clipboard.writeText(location.origin + location.pathname + deskHash(pane, s?.from, s?.to))
  toast('Copied the link')
}

/** Whether only running a command makes it again: what an agent's own call returned is in the log. */
const ran = (pane) => pane.dataset.kind === 'terminal' && pane.dataset.tool !== 'show_result'

/** What a command printed is not to be had again: that is asked first. */
async function drop(pane) {
  if (ran(pane) && !await confirmed('Delete this output now?', `${pane.dataset.base}: running it again may print something else.`, 'Delete')) return
  await remove(path(`/outputs/${pane.dataset.output}`))
}

function entries(pane) {
  const tab = tabOf(pane.dataset.key)
  const { output, state } = pane.dataset
  const there = state === 'done' && output
  const button = (act) => pane.querySelector(`.dhead [data-act=${act}]`)
  const acts = ['wrap', 'copy'].filter((act) => button(act)?.checkVisibility() === false).map((act) => ({ label: button(act).title.replace(/ \(.\)$/, ''), icon: act, run: () => run(act, pane, button(act)) }))
  for (const b of narrow.matches ? pane.querySelectorAll('[data-view][aria-checked=false]') : []) acts.unshift({ label: `View: ${b.textContent}`, icon: 'eye', run: () => b.click() })
  const load = pane.querySelector('.pics [data-part=load]')
  if (load?.checkVisibility() === false) acts.unshift({ label: `Load ${pane.querySelector('.pics [data-part=words]').textContent}`, icon: 'image', about: pane.querySelector('.pics [data-part=from]').textContent, run: () => load.click() })
  if (there) {
    acts.push({ label: 'Download', icon: 'down', run: () => run('download', pane) },
      { label: 'Open the raw file in a browser tab', icon: 'open', run: () => window.open(`${base}/api/outputs/${output}`, '_blank', 'noopener') })
  }
  if (!tab?.own) acts.push({ label: 'Copy the link', icon: 'copy', run: () => link(pane).catch(failed) })
  if (there) acts.push({ label: tab?.pinned ? 'Unpin' : 'Pin', icon: 'pin', run: () => pin(tab) })
  if (there || state === 'expired') acts.push({ label: ran(pane) ? 'Run again' : 'Show again', icon: 'again', run: () => run('again', pane) })
  if (matchMedia('(min-width: 1100px)').matches) acts.push({ label: isAlone() ? 'Beside the conversation' : 'Fill the window', icon: 'rail', run: () => alone() })
  acts.push({ label: 'Close the tab', icon: 'x', run: () => close(tab) })
  if (there && !tab?.look) acts.push({ label: 'Delete now', icon: 'trash', run: () => drop(pane).catch(failed) })
  return acts
}

export function paneMenus() {
  document.addEventListener('click', (e) => {
    const button = e.target.closest?.('[data-act=pane-more]')
    if (button) popup(button, entries(button.closest('[data-pane]')))
  })
}
