import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { cloneDatabase, openPool } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { isDatabaseAway } from './db.ts'

const { url } = await cloneDatabase()

test('regression: a statement takes a connection that is given back, while a new one is still being opened', async (t) => {
  const proxy = await startTcpProxy(t, url)
  const pool = openPool(t, proxy.url, 2)
  const first = await pool.connect()
  // The connection that is opened for the second statement is never answered.
  proxy.isSilent = true
  const second = pool.connect()
  assert.equal(pool.totalCount, 2)
  assert.equal(pool.waitingCount, 1)
  first.release()
  assert.equal(await second, first)
  proxy.cut()
  first.release()
})

test('a new connection goes to who has waited longest, and stays when nobody waits any more', async (t) => {
  const pool = openPool(t, url, 2)
  const first = await pool.connect()
  const served: string[] = []
  const one = pool.connect().then((client) => {
    served.push('one')
    return client
  })
  const other = pool.connect().then((client) => {
    served.push('other')
    return client
  })
  const second = await one
  assert.deepEqual(served, ['one'])
  first.release()
  assert.equal(await other, first)
  second.release()
  first.release()
  assert.deepEqual([pool.totalCount, pool.idleCount, pool.waitingCount], [2, 2, 0])
})

test('who waits is told at once when a connection cannot be opened', async (t) => {
  const proxy = await startTcpProxy(t, url)
  const pool = openPool(t, proxy.url, 2)
  const first = await pool.connect()
  proxy.isSilent = true
  const waiting = pool.connect().then(() => assert.fail('connected'), isDatabaseAway)
  while (proxy.firstBytes.length < 2) await nextTurn()
  proxy.cut()
  assert.ok(await waiting)
  first.release(true)
})
