// A file of the workspace, as lists offer it.

import { showing } from './commands.js'
import { look } from './composer.js'
import { isShown, openOutput } from './desk.js'
import { tools } from './tables.js'
import { iconOf, open, rowOf } from './tabs.js'

const onDesk = (path) => open().find((t) => t.name === path && t.kind !== 'terminal' && t.state === 'done' && !t.look)

/** A file of the workspace: seen while the cursor is on it, kept when it is opened. */
export function file(path, { lines, secret } = {}) {
  const tab = onDesk(path)
  const wanted = showing({ path })
  return {
    key: `file ${path}`, path, icon: secret ? 'key' : iconOf(tools.get(wanted.tool).kind, path), end: tab ? 'on the Desk' : secret ? 'may hold secrets' : '', lines, wanted,
    peeks: true, out: tab?.out,
    run: ({ beside, focus }) => (tab ? openOutput(tab.out, { lines, other: beside, focus }) : opened(wanted, { lines, beside, focus })),
  }
}

/** Opens a file of the workspace at lines, in the tab that shows it if there is one. */
export const openFile = (path, { lines, beside }) => file(path, { lines }).run({ beside })

/** Shows a file; in a narrow window on the sheet, once the page knows of it. */
async function opened(wanted, { lines, beside, focus }) {
  const shown = await look(wanted, { lines, beside, focus })
  const out = shown?.output?.id
  if (!out || isShown() || matchMedia('(min-width: 1100px)').matches) return
  const there = () => rowOf(out) && (document.removeEventListener('webchat:frame', there), openOutput(out, { lines }))
  document.addEventListener('webchat:frame', there)
  there()
}
