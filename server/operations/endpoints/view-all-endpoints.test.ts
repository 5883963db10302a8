// The operator's list of endpoints: its pages in each order, and what is kept of it when there are too many to be counted for
// each page.

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { addEndpoint } from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { until } from '../../../test/support/until.ts'
import { ENDPOINT_ORDERS } from '../../core/asking/endpoint-orders.ts'
import { AllEndpoints } from './view-all-endpoints.ts'

const { pool } = await cloneDatabase()
const server = await serveHttp({ after } as Pick<TestContext, 'after'>, pool)
const EVERY = {
  clientKey: null,
  clientId: null,
  accountId: null,
  kind: null,
  status: null,
  isFailing: null,
  search: null,
  order: 'createdAt' as const,
}
const client = await onboard(server)
const { clientId } = client

const addNamed = (name: string) =>
  addEndpoint(server, client, { callbackUrl: `https://example.com/${name}` })

for (const name of ['d', 'b', 'e', 'a', 'c']) await addNamed(name)

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

test('each order has the same pages, joined, as one page of all, also where they begin at marks', async () => {
  const expected = {
    createdAt: 'dbeac',
    '-createdAt': 'caebd',
    endpointUrl: 'abcde',
    '-endpointUrl': 'edcba',
    failingSince: 'bedac',
    '-failingSince': 'ebcad',
  }
  for (const all of [new AllEndpoints(server.deps), new AllEndpoints(server.deps, 0, 1)]) {
    for (const filter of [{}, { clientId }, { search: 'example' }]) {
      for (const order of ENDPOINT_ORDERS) {
        let names = ''
        for (let number = 0; number < 3; number++) {
          const request = { number, size: 2 }
          const { items, total } = await all.view({ ...EVERY, ...filter, order }, request)
          assert.equal(total, 5)
          names += items.map(({ endpoint }) => endpoint.url.at(-1)).join('')
        }
        assert.equal(names, expected[order], `${JSON.stringify(filter)} ${order}`)
      }
    }
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
  await addNamed('f')
  assert.deepEqual(await look(few), [6, 6])
  assert.deepEqual(await look(many), [6, 5])
  monotonicMs = 29_999
  assert.deepEqual(await look(many), [6, 5])
  monotonicMs = 30_000
  assert.deepEqual(await look(many), [6, 6])
})

test('who goes on looking does not wait for the next count, nor misses it', async () => {
  let monotonicMs = 0
  const clock = { ...server.deps.clock, monotonicMs: () => monotonicMs, nowMs: () => Date.now() }
  const all = new AllEndpoints({ ...server.deps, clock }, 4)
  const look = async () => (await all.view(EVERY, { number: 0, size: 50 })).total
  assert.equal(await look(), 6)
  await addNamed('g')
  monotonicMs = 19_999
  assert.equal(await look(), 6)
  monotonicMs = 20_000
  assert.equal(await look(), 6)
  await until('they were counted', async () => (await look()) === 7)
})

test('regression: an old endpoint that comes into a filtered list hides no other', async () => {
  const all = new AllEndpoints(server.deps, 0, 2)
  const set = (status: 'PAUSED' | 'ACTIVE') =>
    pool.query(
      `update endpoints set status = $1::text, inactive_since = case when $1 = 'PAUSED' then now() end
       where url = 'https://example.com/d'`,
      [status],
    )
  await set('PAUSED')
  const look = async () => {
    let names = ''
    for (let number = 0; number < 4; number++) {
      const filter = { ...EVERY, status: 'ACTIVE' as const }
      const { items } = await all.view(filter, { number, size: 2 })
      names += items.map(({ endpoint }) => endpoint.url.at(-1)).join('')
    }
    return names
  }
  assert.equal(await look(), 'beacfg')
  await set('ACTIVE')
  assert.equal(await look(), 'dbeacfg')
})

test('a page that begins at a mark goes on where the one before ended, whatever is registered or deleted after it was read', async () => {
  const all = new AllEndpoints(server.deps, 4, 2)
  const look = async (number: number) =>
    (await all.view(EVERY, { number, size: 2 })).items.map(({ endpoint }) => endpoint.url.at(-1))
  const pages = [await look(0), await look(1)]
  await addNamed('h')
  const url = 'https://example.com/d'
  await pool.query('update endpoints set deleted_at = now() where url = $1', [url])
  for (const number of [2, 3, 4]) pages.push(await look(number))
  assert.deepEqual(
    pages.map((page) => page.join('')),
    ['db', 'ea', 'cf', 'gh', ''],
  )
})

test('a word that many have is found although none of those before them has it', async () => {
  await pool.query(
    `insert into endpoints (client_key, id, kind, shard, url, href_hash, shared_key, created_at, changed_at)
     select c.client_key, gen_random_uuid(), 'subscription', 0, 'https://example.com/' || n,
       sha256(n::text::bytea), '', date '2020-01-01', now()
     from clients c, generate_series(1, 2000) as n where c.id = $1`,
    [clientId],
  )
  const all = new AllEndpoints(server.deps, 0)
  const find = async () => {
    const { items, total } = await all.view({ ...EVERY, search: 'f' }, { number: 0, size: 1 })
    return [items.map(({ endpoint }) => endpoint.url), total]
  }
  const expected = [['https://example.com/f'], 1]
  assert.deepEqual(await find(), expected)
  assert.deepEqual(await find(), expected)
})
