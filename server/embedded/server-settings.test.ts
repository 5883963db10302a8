import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { findDurabilityFaults } from '../store/schema/durability.ts'
import { parsePasswd } from './run-as.ts'
import { connectionUrl, serverArguments, sharedBuffersMb } from './server-settings.ts'
import { pauseBeforeMs } from './supervisor.ts'

const GIGABYTE = 1024 ** 3
const socket = { kind: 'socket', dir: '/tmp/paybell-x' } as const

test('shared buffers are a quarter of the memory, up to 1 GB', () => {
  assert.equal(sharedBuffersMb(2 * GIGABYTE), 512)
  assert.equal(sharedBuffersMb(64 * GIGABYTE), 1024)
  assert.equal(sharedBuffersMb(1024), 16)
})

test('durability is on whatever postgresql.conf says, unless a test says the long word', () => {
  const usual = serverArguments({}, socket, GIGABYTE)
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    assert.ok(usual.includes(`${name}=on`), name)
  }
  const unsafe = serverArguments({ unsafeThrowAwayForTests: true }, socket, GIGABYTE)
  assert.ok(unsafe.includes('fsync=off') && unsafe.includes('full_page_writes=off'))
  assert.ok(unsafe.includes('synchronous_commit=on'))
})

test('with a socket there is no TCP port at all', () => {
  assert.ok(serverArguments({}, socket, GIGABYTE).includes('listen_addresses='))
  const tcp = serverArguments({}, { kind: 'tcp', port: 6000 }, GIGABYTE)
  assert.ok(tcp.includes('listen_addresses=127.0.0.1') && tcp.includes('port=6000'))
})

test('the url is understood by pg and by URL, so that a caller can change its database', () => {
  const url = new URL(connectionUrl(socket, 'p-w_1'))
  url.pathname = '/other'
  const client = new pg.Client({ connectionString: url.href })
  assert.equal(client.host, '/tmp/paybell-x')
  assert.equal(client.database, 'other')
  assert.equal(client.password, 'p-w_1')
})

test('every setting that loses acknowledged rows is named', async () => {
  const server = (row: Record<string, string>) => ({ query: async () => ({ rows: [row] }) })
  const on = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'remote_apply' }
  assert.deepEqual(await findDurabilityFaults(server(on)), [])
  const faults = await findDurabilityFaults(
    server({ ...on, fsync: 'off', synchronous_commit: 'off' }),
  )
  assert.match(faults.join(), /^fsync is off.*,synchronous_commit is off/)
})

test('the pauses between restarts grow and are bounded', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7, 1000].map(pauseBeforeMs),
    [0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000],
  )
})

test('accounts are read from /etc/passwd, broken lines left out', () => {
  const text = 'root:x:0:0:root:/root:/bin/sh\n+\nnobody:x:65534:65533:n:/:/bin/false\n'
  assert.deepEqual([...parsePasswd(text).keys()], [0, 65534])
  assert.equal(parsePasswd(text).get(65534)?.gid, 65533)
})
