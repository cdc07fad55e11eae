// What comes to the Desk by itself: outputs that the stream and the address name, the Desk as it was
// left, and what is clicked there.

import { addressed, linesOf, address } from './deskaddress.js'
import { announce } from './announce.js'
import { arrange, bring, close, draw, isShown, layout, leave, looked, openOutput, remember, split, toggle } from './desk.js'
import { wish as wished } from './display.js'
import { coming, drop, paneOf, refresh, rekey } from './pane.js'
import { pinNew } from './pins.js'
import { desk, front, load, open, records, save, tabOf, tabWith, take } from './tabs.js'
import { slips } from './tabstrip.js'
import { holdKeys } from './hold.js'
import { failed } from './toast.js'
import { pointed, typing } from './typing.js'

const app = document.getElementById('app')
const strip = document.getElementById('tabs')
const wide = matchMedia('(min-width: 1100px)')
/** What the reader asked to see. */
const wish = {
  name: '',
  place: {}, // {lines, beside, focus}
  over: '', // the look that was in front when the last prompt was sent
  came: () => {}, // what was asked for, or nothing will
}

/** Lines of a pane were chosen, or are no longer. */
function chose(e) {
  const tab = tabOf(e.target.dataset.key)
  if (!tab) return
  if (tab === front()) desk.touched = true
  if (!e.target.hidden) address(tab, linesOf(tab))
}

/** The reader finds something in what is in front, or scrolls what has no rows. */
function touch({ type, target }) {
  const part = type === 'wheel' || type === 'touchmove' ? '.other, .pic' : '.find'
  if (target.closest?.(part)?.closest('[data-pane]')?.dataset.key === desk.front) desk.touched = true
}

/** Whether something that was just shown comes to the front. */
function leads(tab) {
  if (wish.name && tab.name === wish.name) return true
  if ((front()?.look && front().out !== wish.over) || document.getElementById('open-bar').open) return false
  return !front() || !desk.touched
}

/** What could not be shown has no output: its call stands on the Desk, if the reader asked for it or there is nothing else. */
function refused() {
  if (!wide.matches || (!wish.name && desk.tabs.length)) return
  const card = [...document.querySelectorAll('#turns .turn[data-look]:last-child [data-card][data-state=failed]')].find((el) => !wish.name || el.dataset.name === wish.name)
  const slip = card?.querySelector('[data-slip]')
  if (!slip || tabWith(slip.dataset.slip)) return
  wish.name = ''
  openOutput(slip.dataset.slip)
  wish.came()
}

/** What was opened before the list named it stands in the tab of its output, and is drawn once. */
function settle(r) {
  const early = desk.tabs.find((tab) => tab.call && tab.outs.includes(r.out))
  if (!early) return
  desk.tabs.splice(desk.tabs.indexOf(early), 1)
  early.closed = true // what is under way for it ends
  const { tab } = take(r)
  tab.out = r.out
  take(r)
  if (paneOf(early.key)) {
    drop(tab.key)
    rekey(early.key, tab.key)
  }
  if (![desk.front, desk.beside].includes(early.key)) return
  if (desk.beside === tab.key) desk.beside = null
  bring(tab, { other: desk.beside === early.key })
}

/** Takes in what the list of outputs says. */
function sync(first) {
  for (const r of records()) {
    if (r.state === 'running' && r.kind === 'file' && tabOf(r.key)) continue // one reads what it was until it is there
    settle(r)
    const { tab, fresh, again, pin } = take(r)
    if (pin && !first) pinNew(r.out)
    const pane = paneOf(tab.key)
    let drawn = false // by being brought to the front
    if (fresh && !first && !r.reread) {
      if (leads(tab)) {
        const { lines, beside, focus } = tab.name === wish.name ? wish.place : {}
        if (tab.name === wish.name) {
          wish.name = ''
          wish.place = {}
        }
        bring(tab, { byItself: true, lines, other: beside, focus: focus && !typing(document.activeElement) })
        wish.came()
        drawn = coming(tab)
      } else if (tab.key !== desk.front && tab.key !== desk.beside) {
        tab.closed = false
        tab.news = true
        tab.brought = ++desk.brought
        announce(`${tab.base} is on the Desk`)
      }
    }
    if (pane && !drawn && !tab.expects && tab.out === r.out && (again || pane.dataset.target !== tab.out || (pane.dataset.state !== r.state && pane.dataset.state !== 'expired' && pane.dataset.state !== 'away'))) refresh(tab).catch(failed)
  }
  draw()
}

/** The Desk as it was left, or with the last thing in front that can still be read. */
function restore() {
  const was = load() // before it is written again
  sync(true)
  for (const tab of desk.tabs) {
    const old = was?.tabs?.find((t) => t.key === tab.key)
    tab.closed = Boolean(old?.closed)
    tab.place = old?.place
  }
  desk.hidden = Boolean(was?.hidden)
  const name = wished()
  if (route()) return
  wish.name = name
  const to = desk.tabs.findLast((t) => t.name === name) ?? tabOf(was?.front) ?? open().findLast((t) => t.state !== 'gone') ?? open().at(-1)
  if (to && to.name === wish.name) [wish.name, to.closed] = ['', false]
  if (to && !to.closed && wide.matches) {
    desk.front = to.key
    desk.beside = tabOf(was?.beside)?.closed ? null : tabOf(was?.beside)?.key ?? null
  }
  draw()
  refused()
  if (wide.matches) arrange()
}

/** Goes to the output that the address names. */
function route() {
  const to = addressed()
  if (!to) return false
  if (to.with && tabWith(to.with)) {
    tabWith(to.with).closed = false
    desk.beside = tabWith(to.with).key
  }
  openOutput(to.out, { lines: to.lines })
  return true
}

function click(e) {
  const slip = e.target.closest?.('[data-slip], #outs [data-output]')
  if (slip && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) {
    e.preventDefault()
    document.getElementById('shelf').hidePopover()
    const m = /:(\d+(?:-\d+)?)/.exec(slip.hash)
    const keyed = slip.matches('#outs *') && !pointed() && !typing(document.activeElement) // the next key is for what is opened
    openOutput(slip.dataset.slip ?? slip.dataset.output, { lines: m?.[1], focus: keyed })
    desk.touched = true // the reader chose it
    return
  }
  const el = e.target.closest?.('.tab')
  const tab = el && tabOf(el.dataset.key)
  if (tab && e.target.closest('[data-act=close-tab]')) return close(tab)
  if (tab) {
    bring(tab)
    el.querySelector('[role=tab]').focus({ preventScroll: true })
    desk.touched = true
    return
  }
  const act = e.target.closest?.('[data-act]')?.dataset.act
  const pane = e.target.closest?.('[data-pane]')
  if (pane && act === 'close-tab') close(tabOf(pane.dataset.key))
  if (pane && act === 'reload-tab') refresh(tabOf(pane.dataset.key)).catch(failed)
  if (act === 'split') split()
  if (act === 'desk') toggle()
}

export function desks() {
  if (!app || !strip) return
  document.addEventListener('webchat:frame', (e) => {
    if (e.detail.ops.some((op) => op.t === 'outs')) sync(false)
    else slips(isShown())
    refused()
    if (document.querySelector(`#asks [data-ask][data-what="${CSS.escape(wish.name)}"]`)) wish.came() // keys are for that question
  })
  document.addEventListener('webchat:open', (e) => openOutput(e.detail.target, { lines: e.detail.lines }))
  document.addEventListener('webchat:display', (e) => {
    wish.came()
    const { name, answer, ...place } = e.detail
    Object.assign(wish, { name, place })
    if (!place.focus) return
    holdKeys(new Promise((came) => { // keys are for it
      wish.came = came
      answer.then((shown) => shown?.notKept && came(), came)
    }))
  })
  document.addEventListener('webchat:touched', (e) => { if (e.target.dataset.key !== desk.front) return; desk.touched = true; looked(front()) })
  document.addEventListener('webchat:sending', () => { // what it shows is what is wanted now
    desk.touched = false
    wish.over = front()?.look ? front().out : ''
  })
  for (const type of ['focusin', 'input', 'wheel', 'touchmove']) document.addEventListener(type, touch, { passive: true })
  document.addEventListener('webchat:chosen', chose)
  document.addEventListener('focusin', ({ target }) => { if (target.closest('#desk')) desk.read = target.closest('[data-pane]')?.dataset.key ?? null })
  document.addEventListener('click', click)
  document.addEventListener('webchat:compose', leave)
  wide.addEventListener('change', () => { leave(); layout(); if (wide.matches && !front() && open().length) bring(open().at(-1), { byItself: true }); else if (wide.matches) arrange() })
  document.addEventListener('webchat:tabs', draw)
  document.addEventListener('webchat:ended', () => sync(false))
  document.addEventListener('visibilitychange', () => { if (!document.hidden && isShown()) arrange() })
  document.addEventListener('webchat:stale', (e) => { const tab = tabOf(e.target.dataset.key); if (tab && e.target.hidden) drop(tab.key); else if (tab) refresh(tab).catch(failed) })
  addEventListener('hashchange', route)
  addEventListener('pagehide', () => { if (desk.front) remember(desk.front); save() })
  restore()
}
