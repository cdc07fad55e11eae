// Light or dark, as this page is drawn.

/** Reports whether the page is dark. */
export const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches && 'dark')) === 'dark'

/** Draws the page the other way, from now on. */
export function turn() {
  const next = isDark() ? 'light' : 'dark'
  document.documentElement.dataset.theme = next
  localStorage.setItem('webchat.theme', next)
}
