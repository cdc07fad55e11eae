// What screen readers hear.

const heard = 10_000 // milliseconds

/** Tells screen readers, each time it is called; the words go when they have been read out. */
export function announce(words, how = 'say') {
  const spoken = document.createElement('p')
  spoken.textContent = words
  document.getElementById(how)?.append(spoken)
  setTimeout(() => spoken.remove(), heard)
}
