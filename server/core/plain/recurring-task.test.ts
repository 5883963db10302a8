import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HandTimers } from '../../../test/support/engine-parts.ts'
import { RecurringTask } from './recurring-task.ts'

test('a task begins again some time after it has ended, until it is stopped', async () => {
  const timers = new HandTimers()
  let end = () => {}
  const task = new RecurringTask(
    (ms, ring) => timers.set(ms, ring),
    () => 10,
    () => new Promise((resolve) => (end = resolve)),
  )
  task.start()
  assert.deepEqual(timers.waitingMs, [10])
  timers.ring()
  assert.deepEqual(timers.waitingMs, [], 'the next waits for the end of this one')
  end()
  await new Promise(setImmediate)
  assert.deepEqual(timers.waitingMs, [10])
  void task.stop()
  assert.deepEqual(timers.waitingMs, [])
})
