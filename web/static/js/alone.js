// The Desk alone: the conversation makes room for it until it is wanted again.

const app = document.getElementById('app')

export const isAlone = () => app?.classList.contains('alone') ?? false

export function alone(on = !isAlone()) {
  if (on === isAlone()) return
  app.classList.toggle('alone', on)
  for (const el of document.querySelectorAll('#side, #bar, .main')) el.inert = on
}
