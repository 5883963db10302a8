import assert from 'node:assert/strict'
import test from 'node:test'
import type { Pool } from 'pg'
import { nextTick } from '../../../test/support/engine-parts.ts'
import { HandClock } from '../../../test/support/injected-server.ts'
import { loadConfig } from '../../config/config.ts'
import { Sealer } from '../../store/secrets/sealing.ts'
import { KEY_PREFIX, OperatorKeys } from './live-operator-keys.ts'

const GOOD = `${KEY_PREFIX}${'g'.repeat(43)}`
const WRONG = `${KEY_PREFIX}${'w'.repeat(43)}`

/** Keys over a database with one of them, which answers at once, or when the test says so. */
function create() {
  const sealer = new Sealer([Buffer.alloc(32, 7)])
  const clock = new HandClock()
  const state = { isLive: true, isSlow: false, questions: 0 }
  const waiting: { answer(): void; fail(): void }[] = []
  const row = {
    id: 'k1',
    name: 'feeder',
    role: 'ingest',
    digest: sealer.digest(GOOD, sealer.digestKeyId, 'operator-key'),
    master_key_id: sealer.digestKeyId,
  }
  const query = async ({ text }: { text: string }) => {
    if (!text.includes('select')) return { rows: [] }
    state.questions++
    const rows = state.isLive ? [row] : []
    if (state.isSlow) {
      await new Promise<void>((resolve, reject) => {
        waiting.push({ answer: resolve, fail: () => reject(new Error('away')) })
      })
    }
    return { rows }
  }
  const config = loadConfig('sandbox', {})
  const keys = new OperatorKeys({ pool: { query } as unknown as Pool, clock, config, sealer })
  const isKnown = async (token = GOOD) => (await keys.verify(token))?.actor === 'feeder'
  return { keys, clock, state, waiting, isKnown, sealer }
}

test('callers at the same time share one query for the keys, and it is asked again after two seconds', async () => {
  const { clock, state, isKnown } = create()
  assert.deepEqual(await Promise.all([isKnown(), isKnown(), isKnown()]), [true, true, true])
  assert.equal(state.questions, 1)
  state.isLive = false
  clock.advance(1.9)
  assert.equal(await isKnown(), true)
  clock.advance(0.1)
  assert.equal(await isKnown(), false)
})

test('a key that was revoked here stops at once, also while the old keys are being read', async () => {
  const { keys, state, waiting, isKnown } = create()
  state.isSlow = true
  const early = isKnown()
  await nextTick()
  state.isLive = false
  keys.forget()
  state.isSlow = false
  const late = isKnown()
  waiting[0]?.answer()
  assert.deepEqual(await Promise.all([early, late]), [true, false])
  assert.equal(await isKnown(), false)
})

test('wrong keys make it look again at most four times a second', async () => {
  const { clock, state, isKnown } = create()
  for (let at = 0; at < 100; at++) {
    assert.equal(await isKnown(WRONG), false)
    clock.advance(0.01)
  }
  assert.ok(state.questions <= 5, `${state.questions} questions`)
})

test('while newer keys are looked for because of a wrong one, a good one passes without waiting', async () => {
  const { clock, state, waiting, isKnown } = create()
  assert.equal(await isKnown(), true)
  clock.advance(1)
  state.isSlow = true
  const wrong = isKnown(WRONG)
  await nextTick()
  assert.equal(state.questions, 2)
  assert.equal(await isKnown(), true)
  waiting[0]?.fail()
  await assert.rejects(wrong, /away/)
  assert.equal(await isKnown(), true, 'a failed question changes nothing')
})

test('a key that was right is known without a promise, until the keys have to be read again', async () => {
  const { keys, clock, state, isKnown } = create()
  assert.equal(keys.findKnown(GOOD), null, 'not seen yet')
  assert.equal(await isKnown(), true)
  assert.deepEqual(keys.findKnown(GOOD), { actor: 'feeder', role: 'ingest' })
  assert.equal(keys.findKnown(WRONG), null)
  clock.advance(2)
  assert.equal(keys.findKnown(GOOD), null, 'read two seconds ago')
  assert.equal(await isKnown(), true)
  keys.forget()
  assert.equal(keys.findKnown(GOOD), null, 'one was revoked')
  state.isLive = false
  assert.equal(await isKnown(), false)
  assert.equal(keys.findKnown(GOOD), null, 'it was this one')
})

test('a guess is hashed no more often than it is verified', async (t) => {
  const { keys, isKnown, sealer } = create()
  assert.equal(await isKnown(), true)
  const hashed = t.mock.method(sealer, 'digest').mock
  keys.findKnown(WRONG)
  assert.equal(hashed.callCount(), 0)
})
