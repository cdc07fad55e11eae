// What can be done with the worktree that a session works in: what was done there is brought back to
// the checkout, or all is thrown away. Both can be undone, here and by the row that says it.

import { getJSON, path, post, remove } from './api.js'
import { showing } from './commands.js'
import { display } from './display.js'
import { plain, some } from './html.js'
import { popup } from './popup.js'
import { failed, toast } from './toast.js'

const long = 12_000 // milliseconds that the way back is offered in the corner

const last = (name) => plain(name.split(/[\\/]/).pop())

/** Names files: [what it is, whether these are several]. */
const named = (files) => (files.length > 3 ? some(files.length, 'file') : files.map((f) => last(f.path)).join(', '))
const unfits = (files) => `${named(files)} ${files.length === 1 ? 'does' : 'do'} not fit`

export const takeBack = () => post(path('/worktree/undo'), {})

export const restore = () => post(path('/worktree/restore'), {})

/** Brings it back in one way. Then the review is drawn again, or over if all came. */
async function bring(as, tree, { drawn, over }) {
  const { files, unfitted } = await post(path('/worktree/bring'), { as })
  if (files.length) toast(`Brought back ${some(files.length, 'file')} to ${last(tree.checkout)}`, { ms: long, act: { label: 'Undo', run: () => takeBack().then(drawn).catch(failed) } })
  else toast(`${unfits(unfitted)}: nothing was brought back`, { how: 'fail', ms: long, act: { label: 'Open it', run: () => display(showing({ path: `${tree.path}/${unfitted[0].path}` })).catch(failed) } })
  await (unfitted.length ? drawn : over)()
}

/** The words below a way to bring it back as changes. */
function about(files) {
  const also = files.filter((f) => f.also && !f.unfitted)
  const unfit = files.filter((f) => f.unfitted)
  const words = ['Not committed']
  if (also.length) words.push(`${named(also)} changed there too; ${also.length === 1 ? 'both fit' : 'all fit'}`)
  if (unfit.length) words.push(`${unfits(unfit)}, and ${unfit.length === 1 ? 'is' : 'are'} left out`)
  return words.join('. ')
}

/** Offers the ways to bring back what was done; review has what draws it again, and what ends it. */
export async function offerBack(button, review) {
  const tree = await getJSON(path('/worktree'))
  const { files = [], from } = tree
  if (!files.length) return toast('Nothing changed since it was brought back')
  const unfit = files.filter((f) => f.unfitted)
  const run = (as) => () => bring(as, tree, review).catch(failed)
  const at = last(tree.checkout)
  const ways = [{ label: `As changes in ${at}`, icon: 'diff', about: about(files), bad: unfit.length, run: run('changes') }]
  if (from) ways.push({ label: `As one commit on ${plain(from)}`, icon: 'check', about: unfit.length ? `Not while ${unfits(unfit)}` : `Only while ${at} is on ${plain(from)} and nothing is staged`, bad: unfit.length, run: run('commit') })
  popup(button, ways)
}

/** Throws it away at once. */
export async function throwAway() {
  await remove(path('/worktree'))
  toast('Thrown away', { ms: long, act: { label: 'Bring it back', run: () => restore().catch(failed) } })
}
