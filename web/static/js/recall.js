// Gives an agent that forgot a conversation its messages: the text goes
// with the next prompt, where it can be seen and taken out again.

import { add } from './attach.js'
import { getText, path, upload } from './api.js'

const most = 400_000 // characters; the end of a longer conversation matters more than its beginning

export async function recall() {
  const text = (await getText(path('/export?format=md&left=0'))).slice(-most)
  const { id } = await upload(path('/attachments'), new Blob([text], { type: 'text/markdown' }))
  add('Conversation so far', { id, name: 'conversation.md' }, { cost: Math.ceil(text.length / 4) })
  document.getElementById('prompt').focus()
}
