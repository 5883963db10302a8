import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WriteWatch } from './write-watch.ts'

const FULL = Object.assign(new Error('could not extend file'), { code: '53100' })
const LOCKED = Object.assign(new Error('lock not available'), { code: '55P03' })
const PAYMENTS = ['Payment changes cannot be written: the disk of the database is full.']

function watchOf() {
  const state = { nowMs: 0, probes: 0, probe: null as Error | null }
  const watch = new WriteWatch({
    monotonicMs: () => state.nowMs,
    async probe() {
      state.probes++
      if (state.probe !== null) throw state.probe
    },
  })
  const refuse = (times: number, error: Error = FULL) => {
    for (let n = 0; n < times; n++) watch.failed('payments', error)
  }
  return { watch, state, refuse }
}

test('regression: three payments in a row that are refused are a reason; fewer are not', async () => {
  const { watch, refuse } = watchOf()
  refuse(2)
  assert.deepEqual(await watch.findReasons(), [])
  watch.succeeded('payments')
  refuse(2)
  assert.deepEqual(await watch.findReasons(), [], 'one was taken in between')
  refuse(1)
  assert.deepEqual(await watch.findReasons(), PAYMENTS)
  watch.succeeded('payments')
  assert.deepEqual(await watch.findReasons(), [])
})

test('a payment that another transaction holds is no reason, however often it fails', async () => {
  const { watch, refuse } = watchOf()
  refuse(10, LOCKED)
  refuse(10, new Error('a mistake of ours'))
  assert.deepEqual(await watch.findReasons(), [])
})

test('without payments as evidence, a probe decides, every five seconds', async () => {
  const { watch, state, refuse } = watchOf()
  refuse(3)
  state.probe = FULL
  await watch.findReasons()
  assert.equal(state.probes, 0, 'the last refusal is fresh')
  for (const probes of [1, 2]) {
    state.nowMs += 5_000
    assert.deepEqual(await watch.findReasons(), PAYMENTS)
    assert.deepEqual(await watch.findReasons(), PAYMENTS)
    assert.equal(state.probes, probes)
  }
  state.probe = null
  state.nowMs += 5_000
  assert.deepEqual(await watch.findReasons(), [])
  refuse(1)
  assert.deepEqual(await watch.findReasons(), PAYMENTS, 'one more refusal is enough')
})

test('a probe that fails for a reason of its own proves nothing: payments may come again', async () => {
  const { watch, state, refuse } = watchOf()
  refuse(3)
  state.probe = Object.assign(new Error('permission denied'), { code: '42501' })
  state.nowMs += 5_000
  assert.deepEqual(await watch.findReasons(), [])
})

test('leases that cannot be renewed are a reason until they are', async () => {
  const { watch, state } = watchOf()
  watch.failed('leases', FULL)
  assert.deepEqual(await watch.findReasons(), [])
  watch.failed('leases', FULL)
  state.nowMs += 60_000
  const [reason] = await watch.findReasons()
  assert.equal(reason, 'Leases cannot be written: the disk of the database is full.')
  watch.succeeded('leases')
  assert.deepEqual(await watch.findReasons(), [])
  assert.equal(state.probes, 0)
})
