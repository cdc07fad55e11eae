// Light or dark, as this page is drawn.

/** Reports whether the page is dark. */
export const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches && 'dark')) === 'dark'

/** Draws the page light or dark from now on; empty: as the system does. */
export function choose(theme) {
  if (theme) {
    document.documentElement.dataset.theme = theme
    localStorage.setItem('webchat.theme', theme)
  } else {
    delete document.documentElement.dataset.theme
    localStorage.removeItem('webchat.theme')
  }
}

/** Draws the page the other way, from now on. */
export const turn = () => choose(isDark() ? 'light' : 'dark')
