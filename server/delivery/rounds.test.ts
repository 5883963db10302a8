import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandTimers } from '../../test/support/engine-parts.ts'
import { Rounds } from './rounds.ts'

test('a round begins again some time after it has ended, until it is stopped', async () => {
  const timers = new HandTimers()
  const rounds = new Rounds({ setTimer: (ms, task) => timers.set(ms, task) })
  let end = () => {}
  rounds.begin(10, () => new Promise((resolve) => (end = resolve)))
  assert.deepEqual(timers.waitingMs, [10])
  timers.ring()
  assert.deepEqual(timers.waitingMs, [], 'the next waits for the end of this one')
  end()
  await new Promise(setImmediate)
  assert.deepEqual(timers.waitingMs, [10])
  rounds.stop()
  assert.deepEqual(timers.waitingMs, [])
})
