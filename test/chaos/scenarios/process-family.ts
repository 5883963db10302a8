// The processes that another one has started, from /proc.

import { readFileSync } from 'node:fs'

/** Oldest first. */
export function childrenOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? [] : children.split(' ').map(Number)
}
