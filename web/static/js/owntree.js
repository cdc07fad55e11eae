// The switch on the start page: the session that the first prompt makes works in a worktree of its
// own, on a new branch, with what is not committed or without it.

import { clone, some } from './html.js'

const head = document.getElementById('start-head')
/** What the folder is, and what was chosen. */
const choice = { branch: '', changes: 0, more: false, own: false, along: false }

/** What a session is asked for. */
export const wish = () => (choice.own ? { worktree: true, takeAlong: choice.along } : {})

/** Says below the prompt why no worktree was made. Whether that is why a prompt was not sent. */
export function unfit(err) {
  const why = document.getElementById('unfit')
  if (!why || !choice.own || !err.making) return false
  why.hidden = false
  why.textContent = err.message
  return true
}

const files = (word) => (choice.more ? `${choice.changes.toLocaleString('en')} or more ${word}s` : some(choice.changes, word))

function draw() {
  const { branch, changes, own, along } = choice
  const at = head.querySelector('[data-branch]')
  at.textContent = own ? ` new branch${branch && ` from ${branch}`}` : branch
  if (own) at.prepend(clone('tpl-branch').root)
  const counted = own ? `${along ? 'with' : 'without'} your ${files('changed file')}` : `${files('file')} changed`
  head.querySelector('[data-changes]').textContent = changes ? counted : ''
  const take = head.querySelector('[data-act=take-along]')
  take.hidden = !own || !changes
  take.textContent = along ? 'Leave them' : 'Take them along'
  head.querySelector('[role=switch]').ariaChecked = String(own)
  document.querySelector('[data-list=changed] h2').textContent = `Changed, ${own && along ? '' : 'not '}${own ? 'taken along' : 'committed'}`
  const stays = document.querySelector('#stays b')
  if (!stays) return
  stays.dataset.was ??= stays.textContent
  stays.textContent = own ? 'its worktree' : stays.dataset.was
}

function change(now) {
  Object.assign(choice, now)
  document.getElementById('unfit').hidden = true
  draw()
}

const turn = () => change({ own: !choice.own })

/** Says where a session begins; can: it can be in a worktree of its own. */
export function whereabouts({ branch = '', changes, more, worktree: can }) {
  Object.assign(choice, { branch, changes, more })
  draw()
  const button = head.querySelector('[role=switch]')
  if (!can || !button.hidden) return
  button.hidden = false
  button.addEventListener('click', turn)
  head.querySelector('[data-act=take-along]').addEventListener('click', () => change({ along: !choice.along }))
  document.getElementById('prompt').addEventListener('input', () => { document.getElementById('unfit').hidden = true })
  document.addEventListener('keydown', (e) => {
    const w = /^[a-z]$/i.test(e.key) ? e.key.toLowerCase() === 'w' : e.code === 'KeyW' // with Alt, a Mac writes something else
    if (!w || !e.altKey || e.ctrlKey || e.metaKey || e.shiftKey || document.querySelector('dialog[open]') || !head.checkVisibility()) return
    e.preventDefault()
    turn()
  })
}
