// The tables of what can be shown, as the server has them: tools, kinds and views by their names.

const given = JSON.parse(document.getElementById('tables')?.dataset.given ?? '{}')
const byName = (list) => new Map((list ?? []).map((one) => [one.name, one]))

export const tools = byName(given.tools)
export const kinds = byName(given.kinds)
export const views = byName(given.views)

/** The tool that shows a file of a name best. */
export const showsBest = (file) => {
  const [, ending] = /(\.[^./]+)$/.exec(file.toLowerCase()) ?? []
  const all = [...tools.values()]
  return (all.find((t) => ending && t.files?.split(' ').includes(ending)) ?? all[0]).name
}
