// Asks once before something is done.

const dialog = document.getElementById('confirm')
/** The one question that is open. */
const question = {
  answer: () => {}, // to the question that is open
}

// The browser reports the end later, when the next question may be open already.
dialog?.addEventListener('close', () => { if (!dialog.open) question.answer(dialog.returnValue === 'yes') })

/** Whether the user says yes. */
export function confirmed(title, text, yes) {
  question.answer(false)
  for (const [part, words] of Object.entries({ title, text, yes })) dialog.querySelector(`[data-part=${part}]`).textContent = words
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => { question.answer = resolve })
}
