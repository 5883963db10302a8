import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { learnSealing } from '../../../server/operations/sealing/bind-addresses.ts'
import { inspectDatabase } from '../../../server/store/schema/inspect-database.ts'
import { Sealer } from '../../../server/store/secrets/sealing.ts'
import { cloneDatabase } from '../../../test/support/database.ts'
import { addEndpoint } from '../../../test/support/injected-calls.ts'
import { onboard, serveHttp } from '../../../test/support/injected-server.ts'
import { checkSealing } from './sealing-checks.ts'

const masterKey = randomBytes(32)

async function open(t: { after(task: () => unknown): void }, change = '') {
  const { pool, url } = await cloneDatabase()
  if (change) await pool.query(change)
  const sealer = new Sealer([masterKey])
  await learnSealing({ pool, sealer })
  const server = await serveHttp(t as never, pool, { sealer })
  const endpoint = await addEndpoint(server, await onboard(server))
  const check = async () => {
    const { schema } = await inspectDatabase(url)
    assert.ok(schema)
    return [...checkSealing({ masterKeys: [masterKey] }, schema)]
  }
  return { pool, endpoint, check }
}

test('where every secret opens for its address, it says so', async (t) => {
  const { check } = await open(t)
  assert.deepEqual(
    (await check()).map(({ status }) => status),
    ['ok'],
  )
})

test('an endpoint whose address was changed is named', async (t) => {
  const { pool, endpoint, check } = await open(t)
  await pool.query(`update endpoints set url = 'https://thief.example/'`)
  const [found] = await check()
  assert.equal(found?.status, 'failed')
  assert.ok(found?.detail.includes(endpoint.id), found?.detail)
})

test('a mark that was changed is named, and loosens nothing', async (t) => {
  const { pool, check } = await open(t)
  await pool.query(`update sealing set binding = 'none', binding_authentication = null`)
  const found = await check()
  assert.deepEqual(
    found.map(({ status }) => status),
    ['failed', 'ok'],
  )
  assert.match(found[0]?.remedy ?? '', /paybell reseal/)
})

test('what an earlier version has sealed waits for its resealing', async (t) => {
  const { check } = await open(t, `update sealing set binding = 'none'`)
  const [found] = await check()
  assert.equal(found?.status, 'warning')
  assert.match(found?.remedy ?? '', /paybell reseal/)
})
