// The way from a place that a text names to the file.

import { openOutput } from './desk.js'
import { display } from './display.js'
import { desk } from './tabs.js'

/** Opens the file that a text names, at its line: as it stands on the Desk, else as it is now. */
export function source(a, e) {
  const { path: file, line } = a.dataset
  const tab = desk.tabs.find((t) => t.name === file && t.state === 'done')
  if (tab) return openOutput(tab.outs.at(-1), { lines: line, other: e.ctrlKey || e.metaKey })
  return display({ tool: 'render_file_contents', arguments: { path: file } }, { lines: line })
}
