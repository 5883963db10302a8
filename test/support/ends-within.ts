// That something ends by a limit of this process, held against a timer of the same loop: what makes one of them late on a
// busy machine makes the other late, too, and timers fire in the order of their times.

import assert from 'node:assert/strict'

export async function endsWithin<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
  }, ms)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    assert.equal(isOver, false, `it took longer than a timer of ${ms} ms`)
  }
}
