import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase, testServerUrl } from '../../../test/support/database.ts'
import { databaseUrl, onServer } from '../../../test/support/test-server.ts'
import { checkDatabase } from './check-database.ts'
import { findDurabilityFaults } from './durability.ts'

const answering = (settings: Record<string, string>) => ({
  query: async () => ({ rows: [settings] }),
})

test('each setting that is off is a sentence; grades of commit that flush are none', async () => {
  const durable = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }
  assert.deepEqual(await findDurabilityFaults(answering(durable)), [])
  for (const grade of ['local', 'remote_write', 'remote_apply']) {
    const settings = { ...durable, synchronous_commit: grade }
    assert.deepEqual(await findDurabilityFaults(answering(settings)), [])
  }
  const off = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }
  const faults = await findDurabilityFaults(answering(off))
  assert.equal(faults.length, 3)
  for (const fault of faults) assert.match(fault, /^\w+ is off: /)
})

test('a real database is asked for what it does, its own settings included', async () => {
  const { url } = await cloneDatabase()
  const name = new URL(url).pathname.slice(1)
  const server = await testServerUrl()
  await onServer(server, (client) =>
    client.query(`alter database ${name} set synchronous_commit = off`),
  )
  const faults = await checkDatabase(databaseUrl(server, name))
  assert.ok(faults.some((fault) => fault.startsWith('synchronous_commit is off')))
})

test('a database that cannot be reached is an error, not a verdict', async () => {
  await assert.rejects(checkDatabase('postgres://nobody@127.0.0.1:1/none'))
})
