import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Ending } from './ending.ts'

test('what comes first is what is waited for, or the end', async () => {
  const ending = new Ending()
  assert.equal(await ending.orEnd(Promise.resolve('first')), 'first')
  await assert.rejects(ending.orEnd(Promise.reject(new Error('failed'))), /failed/)
  const waits = [ending.orEnd(new Promise(() => {})), ending.orEnd(new Promise(() => {}))]
  assert.equal(ending.isOver, false)
  ending.end()
  assert.deepEqual(await Promise.all(waits), [null, null])
  assert.equal(ending.isOver, true)
  assert.equal(await ending.orEnd(new Promise(() => {})), null)
})

test('regression: what was waited for is not kept until the end', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const ending = new Ending()
  const wait = async () =>
    new WeakRef((await ending.orEnd(Promise.resolve({ of: 'many' }))) as object)
  const kept = await wait()
  await nextTurn()
  collect()
  assert.equal(kept.deref(), undefined)
  assert.equal(ending.isOver, false)
})
