// What one says about the changes of a review: comments on them, which were taken back, and why one
// could not be. Comments, and what was taken back, wait as chips in the composer.

import { announce } from './announce.js'
import { addLines, waiting } from './attach.js'
import { draft, told } from './drafts.js'
import { clone, plain, some } from './html.js'
import { all, byKey, fileOf, review } from './reviewview.js'
import { failed } from './toast.js'

const most = 50 // undone changes that are named to the agent
const remarks = new Map() // key → {text, tokens, remove}
const refusals = new Map() // key → {why, undoable}: why a change was not taken back, until its file can be again or it is tried again
/** The chip of what was taken back. */
const chip = {
  undone: null, // the chip of what was taken back: {keys, remove}
}

/** Paints what is kept and commented, and says what goes with the next prompt. */
export function marks() {
  const kept = draft.list('kept')
  for (const el of all('[data-key]')) {
    const on = !('undone' in el.dataset) && kept.includes(el.dataset.key)
    const button = el.querySelector('[data-act=keep]')
    el.classList.toggle('is-kept', on)
    if (button) {
      button.ariaPressed = String(on)
      button.querySelector('[data-label]').textContent = on ? 'Kept' : 'Keep'
    }
    const refusal = refusals.get(el.dataset.key)
    if (refusal && refusal.undoable !== ('undoable' in fileOf(el).dataset)) refusals.delete(el.dataset.key)
    const place = el.querySelector('.failed')
    if (place) {
      place.textContent = refusals.get(el.dataset.key)?.why ?? ''
      place.hidden = !place.textContent
    }
    const remark = remarks.get(el.dataset.key)
    const box = el.querySelector('[data-part=comments]')
    box.replaceChildren()
    if (!remark) continue
    const { root: line, parts } = clone('tpl-remark')
    parts.text.textContent = remark.text
    parts.price.textContent = remark.remove ? `+${remark.tokens.toLocaleString('en')}` : 'sent'
    box.append(line)
  }
  for (const file of review.since === 'back' ? [] : all('.rfile')) {
    const state = review.root.querySelector(`[data-to="${file.dataset.file}"] [data-part=state]`)
    const n = { kept: all('.is-kept:not([data-undone])', file).length, undone: all('[data-undone]', file).length }
    state.textContent = Object.entries(n).filter(([, count]) => count).map(([word, count]) => `${count} ${word}`).join(', ') || state.dataset.also || (file.querySelector('.rsay .link') ? 'changed since' : '')
  }
  review.root.dispatchEvent(new CustomEvent('webchat:lines')) // the map has other marks
  goes()
}

/** Says in the foot what goes with the next prompt. */
function goes() {
  const comments = [...remarks.values()].filter((r) => r.remove).length
  const parts = [chip.undone && `${chip.undone.keys.length.toLocaleString('en')} undone`, comments && some(comments, 'comment')].filter(Boolean)
  const n = (chip.undone?.keys.length ?? 0) + comments
  review.root.querySelector('[data-act=keep-out]').hidden = !n
  review.root.querySelector('.dfoot .kept').classList.toggle('is-own', n > 0)
  review.root.querySelector('[data-part=goes]').textContent = n ? `${parts.join(' and ')} ${n === 1 ? 'goes' : 'go'} with your next prompt` : ''
}

/** The handlers of a chip that went or was removed; of undone changes, and of a comment. */
const undoneGone = (mine) => (elsewhere) => {
  if (chip.undone !== mine) return
  if (!elsewhere) told(mine.keys)
  chip.undone = null
  goes()
}
const remarkGone = (key, remark) => () => {
  remark.remove = null
  if (remarks.get(key) === remark) marks()
}

/** Takes on the chips that were kept while the page was loaded anew. */
export function takeOn() {
  for (const one of waiting('undone')) {
    chip.undone = { keys: one.kept.about.undone, remove: one.gone }
    one.onRemove = undoneGone(chip.undone)
  }
  for (const one of waiting('remark')) {
    const { remark: key, text } = one.kept.about
    const remark = { text, tokens: one.kept.cost, remove: one.gone }
    remarks.set(key, remark)
    one.onRemove = remarkGone(key, remark)
  }
}

/** Makes the chip of what is undone and not reported yet. */
export async function tellUndone() {
  const list = all('[data-undone]')
  const still = draft.list('told').filter((key) => byKey(key)?.matches('[data-undone]') ?? true)
  draft.saveList('told', still)
  const fresh = list.filter((el) => !still.includes(el.dataset.key))
  const keys = fresh.map((el) => el.dataset.key)
  if (String(keys) === String(chip.undone?.keys ?? [])) return goes()
  const old = chip.undone
  chip.undone = null
  old?.remove()
  if (fresh.length) {
    const label = `${fresh.length} of ${some(Number(review.root.dataset.changes), 'change')} undone`
    const lines = fresh.slice(0, most).map((el) => placed(fileOf(el).dataset.path, el.dataset.lines))
    if (fresh.length > most) lines.push(`and ${fresh.length - most} more`)
    const mine = { keys, remove() {} }
    chip.undone = mine
    const text = `I undid ${label.replace(' undone', '')} of yours on disk. They were at:\n${lines.join('\n')}\n`
    const made = await addLines({ label, text, icon: '#i-undo', about: { undone: keys } }, undoneGone(mine))
    mine.remove = made.remove
    if (chip.undone !== mine) made.remove()
  }
  goes()
}

/** Says at a change why it was not undone, unless the review says so by itself. */
export function refuse(hunk, err) {
  if (err.code === 'changed') return announce(err.message)
  if (hunk?.matches('.rsay')) return announce(err.message) // it stands there
  if (!hunk?.querySelector('.failed')) return failed(err)
  refusals.set(hunk.dataset.key, { why: err.message, undoable: 'undoable' in fileOf(hunk).dataset })
  marks()
}

/** A change's file and lines; what is not text has no lines. */
const placed = (name, lines) => (lines ? `${name}:${lines}` : name)

/** Writes about a change, in its place. */
export function comment(hunk) {
  if (!hunk?.dataset.key || 'undone' in hunk.dataset) return
  review.root.querySelector('.remark-edit')?.remove()
  const { root: field } = clone('tpl-remark-edit')
  field.value = remarks.get(hunk.dataset.key)?.text ?? ''
  hunk.append(field)
  field.focus()
  field.scrollIntoView({ block: 'nearest' })
}

export function drop(key) {
  const remark = remarks.get(key)
  remarks.delete(key)
  remark?.remove?.()
  marks()
}

export async function keepComment(field) {
  const hunk = field.closest('[data-hunk]')
  const { key, lines } = hunk.dataset
  const name = fileOf(hunk).dataset.path
  const text = field.value.trim()
  field.remove()
  hunk.focus({ preventScroll: true })
  drop(key)
  if (!text) return
  const remark = { text, tokens: 0, remove() {} }
  remarks.set(key, remark)
  const label = `1 comment on ${placed(plain(name.split('/').pop()), lines.replace('-', '–'))}`
  const made = await addLines({ label, text: `Comment on ${placed(name, lines)}\n${text}\n`, icon: '#i-say', about: { remark: key, text } }, remarkGone(key, remark))
  Object.assign(remark, made)
  if (remarks.get(key) !== remark) made.remove()
  marks()
}

export function keepOut() {
  chip.undone?.remove()
  for (const [key, r] of [...remarks]) if (r.remove) drop(key)
}

/** A change is tried again: why it was not taken back no longer stands. */
export const retried = (key) => refusals.delete(key)
