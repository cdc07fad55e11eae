// What one does with an earlier prompt: send it again, edit it, branch before it.

import { announce } from './announce.js'
import { add } from './attach.js'
import { newID, path, post } from './api.js'
import { visit } from './base.js'
import { confirmed } from './confirm.js'
import { draft } from './drafts.js'
import { names } from './mentions.js'
import { toast } from './toast.js'

/** The prompt a button belongs to. */
function promptOf(b) {
  const turn = b.closest('.turn')
  const row = turn.querySelector('.ask-row')
  const given = row?.querySelector('[data-given]')?.dataset.given
  return {
    turn,
    messageId: turn.dataset.message,
    rewinds: 'rewinds' in turn.dataset && !('left' in turn.dataset),
    content: row?.querySelector('h2').textContent.trim() ?? '',
    attachments: given ? JSON.parse(given) : [],
  }
}

const goBack = (messageId) => post(path('/rewind'), { messageId })

/** Tries a turn once more: in place of the last one, else as a new prompt. */
export async function again(b) {
  const { turn, messageId, rewinds, content, attachments } = promptOf(b)
  if (rewinds && !turn.nextElementSibling) await goBack(messageId)
  await post(path('/messages'), { messageId: newID(), content: b.dataset.text ?? content, attachments: attachments.length ? attachments : undefined })
}

/** Ends the wait for the provider: stops the turn, and sends its prompt again. */
export async function tryNow(b) {
  const { content, attachments } = promptOf(b)
  await post(path('/abort'))
  await post(path('/messages'), { messageId: newID(), content, attachments: attachments.length ? attachments : undefined })
}

/** Puts a prompt into the field: sending it goes back to before the old one. */
export async function edit(b, fill) {
  const { messageId, rewinds, content, attachments } = promptOf(b)
  if (!rewinds) return branch(b)
  for (const chip of document.querySelectorAll('#chips [data-goes-back] [data-act=unchip]')) chip.click()
  let gone = null // it goes back once, however often sending is tried
  add('Replaces the earlier prompt; files stay as they are', () => (gone ??= goBack(messageId).catch((err) => { gone = null; throw err })).then(() => null))
  document.getElementById('chips').lastElementChild.dataset.goesBack = ''
  for (const a of attachments.filter((a) => !names(content, a))) add(a.name || a.path || 'attachment', a)
  fill(content)
}

/** Begins a session with everything before a prompt, which stands in its field. */
export async function branch(b) {
  const { messageId, content } = promptOf(b)
  if (!await confirmed('Branch here?', 'A new session starts with everything before this prompt. Its agent gets the text so far with your first prompt, which costs tokens. Files stay as they are.', 'Branch')) return
  const made = await post(path('/branch'), { messageId })
  document.body.dataset.session = made.id
  draft.save(content)
  visit(`/sessions/${made.id}`)
}

/** Shows a turn that was left behind, or folds it again. */
export function unfold(b) {
  const open = b.closest('.turn').toggleAttribute('data-open')
  b.setAttribute('aria-expanded', String(open))
  b.textContent = open ? 'Fold it' : 'Show it'
}

/** Undoes what a turn changed, or brings it back; files that are otherwise by now stay. */
export async function undoHere(b) {
  const turn = b.closest('.turn')
  const back = 'undone' in turn.dataset
  const { kept, notUndone } = await post(path(`/turns/${b.dataset.of}/${back ? 'redo' : 'undo'}`))
  const left = [...kept.map((f) => f.path), ...notUndone.map((f) => f.what)]
  const words = back ? 'The files are as the agent left them' : 'Undone. The files are as they were'
  if (left.length) toast(`${words}, but for ${left.join(', ')}`, { how: 'ask' })
  else announce(words)
}
