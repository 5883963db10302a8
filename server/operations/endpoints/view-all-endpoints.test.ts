// The operator's list of endpoints: its pages in each order, and how many there are when they are too many to be counted
// for each page.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { AllEndpoints, ENDPOINT_ORDERS } from './view-all-endpoints.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const EVERY = {
  clientId: null,
  accountId: null,
  kind: null,
  status: null,
  isFailing: null,
  search: null,
  order: 'createdAt' as const,
}
const { headers, clientId } = await onboard(server)

async function register(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const payload = {
      callbackUrl: `https://example.com/${name}`,
      sharedKey: 'a-long-random-text-that-only-we-two-know',
    }
    const url = '/v1/webhooks/register'
    const { statusCode } = await server.app.inject({ method: 'POST', url, headers, payload })
    assert.equal(statusCode, 200)
  }
}

await register('d', 'b', 'e', 'a', 'c')

/** Failing since the given minute. */
async function fail(name: string, minute: number): Promise<void> {
  await pool.query(
    `insert into endpoint_health (client_key, endpoint_id, failing_since)
     select client_key, id, $2 from endpoints where url = $1`,
    [`https://example.com/${name}`, new Date(Date.UTC(2026, 0, 1, 0, minute))],
  )
}
await fail('e', 2)
await fail('b', 1)

test('each order has the same pages, joined, as one page of all', async () => {
  const expected = {
    createdAt: 'dbeac',
    '-createdAt': 'caebd',
    endpointUrl: 'abcde',
    '-endpointUrl': 'edcba',
    failingSince: 'bedac',
    '-failingSince': 'ebcad',
  }
  const all = new AllEndpoints(server.deps)
  for (const order of ENDPOINT_ORDERS) {
    let names = ''
    for (let number = 0; number < 3; number++) {
      const { items, total } = await all.view({ ...EVERY, order }, { number, size: 2 })
      assert.equal(total, 5)
      names += items.map(({ endpoint }) => endpoint.url.at(-1)).join('')
    }
    assert.equal(names, expected[order], order)
  }
})

test('a page behind the last is empty, and says how many there are', async () => {
  const all = new AllEndpoints(server.deps)
  for (const order of ENDPOINT_ORDERS) {
    const { items, total } = await all.view({ ...EVERY, order }, { number: 7, size: 2 })
    assert.deepEqual([items.length, total], [0, 5])
  }
})

test('a filter is counted by itself', async () => {
  const all = new AllEndpoints(server.deps, 0)
  const totals = []
  for (const filter of [
    {},
    { isFailing: true },
    { search: 'a' },
    { clientId },
    { isFailing: true },
  ])
    totals.push((await all.view({ ...EVERY, ...filter }, { number: 0, size: 1 })).total)
  assert.deepEqual(totals, [5, 2, 1, 5, 2])
})

test('more than are counted each time are counted again after half a minute; their pages are of now', async () => {
  let monotonicMs = 0
  const clock = { ...server.deps.clock, monotonicMs: () => monotonicMs, nowMs: () => Date.now() }
  const deps = { ...server.deps, clock }
  const [few, many] = [new AllEndpoints(deps, 5), new AllEndpoints(deps, 4)]
  const look = async (all: AllEndpoints) => {
    const { items, total } = await all.view(EVERY, { number: 0, size: 50 })
    return [items.length, total]
  }
  for (const all of [few, many]) assert.deepEqual(await look(all), [5, 5])
  await register('f')
  assert.deepEqual(await look(few), [6, 6])
  assert.deepEqual(await look(many), [6, 5])
  monotonicMs = 29_999
  assert.deepEqual(await look(many), [6, 5])
  monotonicMs = 30_000
  assert.deepEqual(await look(many), [6, 6])
})
