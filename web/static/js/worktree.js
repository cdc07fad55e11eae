// What can be done with the worktree that a session works in.

import { path, post } from './api.js'

export const takeBack = () => post(path('/worktree/undo'), {})

export const restore = () => post(path('/worktree/restore'), {})
