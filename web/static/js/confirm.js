// Asks once before something is done.

/** Whether the user says yes. */
export function confirmed(title, text, yes) {
  const dialog = document.getElementById('confirm')
  for (const [part, words] of Object.entries({ title, text, yes })) dialog.querySelector(`[data-part=${part}]`).textContent = words
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true }))
}
