// Asks once before something is done.

const dialog = document.getElementById('confirm')
let answer = () => {} // to the question that is open

// The browser tells of an end later, when the next question may be open already.
dialog?.addEventListener('close', () => { if (!dialog.open) answer(dialog.returnValue === 'yes') })

/** Whether the user says yes. */
export function confirmed(title, text, yes) {
  answer(false)
  for (const [part, words] of Object.entries({ title, text, yes })) dialog.querySelector(`[data-part=${part}]`).textContent = words
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => { answer = resolve })
}
