import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachAlone } from './each-alone.ts'

const ENDPOINTS = ['a', 'b', 'c'].map((endpointId) => ({ endpointId }))

function failing(code: string) {
  return Object.assign(new Error(`with ${code}`), { code })
}

async function run(error: Error) {
  const done: string[] = []
  const failed = await eachAlone(ENDPOINTS, async ({ endpointId }) => {
    if (endpointId === 'b') throw error
    done.push(endpointId)
  })
  return { done, failed: failed.map(({ endpointId }) => endpointId) }
}

test('regression: an endpoint that fails, or takes too long, stops no other', async () => {
  // A statement that took too long, a deadlock, a refusal of our own.
  for (const code of ['57014', '40P01', 'PB001']) {
    assert.deepEqual(await run(failing(code)), { done: ['a', 'c'], failed: ['b'] }, code)
  }
})

test('a database that is away is not asked for each of them', async () => {
  for (const code of ['ECONNREFUSED', '57P01']) await assert.rejects(run(failing(code)))
})
