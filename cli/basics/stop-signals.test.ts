import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { StopSignals } from './stop-signals.ts'

function heard() {
  const source = new EventEmitter()
  return { source, signals: new StopSignals(source as unknown as NodeJS.Process) }
}

test('the first signal asks, whichever it is, and is not forgotten', async () => {
  const { source, signals } = heard()
  assert.equal(signals.isRequested, false)
  source.emit('SIGTERM', 'SIGTERM')
  source.emit('SIGINT', 'SIGINT')
  assert.equal(signals.isRequested, true)
  assert.equal(await signals.requested, 'SIGTERM')
})

test('patience ends with its time', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { source, signals } = heard()
  source.emit('SIGTERM', 'SIGTERM')
  let isOver = false
  const waiting = signals.patience(5_000).then(() => {
    isOver = true
  })
  t.mock.timers.tick(4_999)
  await Promise.resolve()
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await waiting
})

test('patience ends with a second signal, and there is none when none is wanted', async () => {
  const { source, signals } = heard()
  source.emit('SIGTERM', 'SIGTERM')
  await signals.patience(0)
  const waiting = signals.patience(600_000)
  source.emit('SIGTERM', 'SIGTERM')
  await waiting
})

test('work that is not interrupted is handed through', async () => {
  const { signals } = heard()
  assert.equal(await signals.endAtOnceDuring(Promise.resolve(1)), 1)
  await assert.rejects(signals.endAtOnceDuring(Promise.reject(new Error('failed'))), /failed/)
})
