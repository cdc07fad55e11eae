// What one does with a prompt that waits in the dock: send it earlier, edit it, take it back.

import { patch, path, remove } from './api.js'
import { failed } from './toast.js'

const of = (row) => path(`/messages/${encodeURIComponent(row.dataset.message)}`)
const compose = () => document.getElementById('prompt')?.focus()

export const earlier = (b) => patch(of(b.closest('.queued')), { earlier: true })

export async function withdraw(b) {
  await remove(of(b.closest('.queued')))
  compose()
}

function leave(field) {
  field.remove()
  compose()
}

/** Saves what a row's text was edited to. */
export function save(row) {
  const field = row.querySelector('textarea')
  if (field.readOnly) return
  if (field.value === row.querySelector('.queued-text').textContent) return leave(field)
  field.readOnly = true
  patch(of(row), { content: field.value }).then(() => leave(field), (err) => {
    field.readOnly = false
    failed(err)
  })
}

/** Edits in place: Enter saves, Escape leaves the text as it was. */
export function edit(b) {
  const row = b.closest('.queued')
  if (row.querySelector('textarea')) return
  const text = row.querySelector('.queued-text')
  const field = document.createElement('textarea')
  field.rows = 1
  field.value = text.textContent
  field.ariaLabel = 'Edit the queued prompt'
  field.addEventListener('keydown', (e) => {
    e.stopPropagation()
    if (e.key === 'Escape') leave(field)
    else if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault()
      save(row)
    }
  })
  text.after(field)
  field.focus()
  field.setSelectionRange(field.value.length, field.value.length)
}
