import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { cloneDatabase, openPool, testServerUrl } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { onServer } from '../../../test/support/test-server.ts'
import { checkDatabase } from '../schema/check-database.ts'
import { createClient, inTransaction, isDatabaseAway } from './db.ts'
import { findFirst } from './hosts.ts'

/** Nothing listens there. */
const NOWHERE = '127.0.0.1:1'

async function makeReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await onServer(await testServerUrl(), (client) =>
    client.query(`alter database ${name} set default_transaction_read_only = ${isReadOnly}`),
  )
}

/** Two hosts of one database, as a failover sees them: `second` takes writes, `first` does not. */
async function makeHosts(t: TestContext) {
  const [first, second] = [await cloneDatabase(), await cloneDatabase()]
  await makeReadOnly(first.url, true)
  const asked = new URL(second.url).pathname.slice(1)
  const ways = [
    await startTcpProxy(t, first.url, { insteadOf: asked }),
    await startTcpProxy(t, second.url),
  ] as const
  const url = new URL(second.url)
  url.searchParams.delete('host')
  const address = (hosts: string) =>
    `postgres://${url.username}:${url.password}@${hosts}${url.pathname}?target_session_attrs=read-write`
  const both = address(ways.map(({ port }) => `127.0.0.1:${port}`).join(','))
  return { first, second, ways, both, address }
}

const WHERE = 'select current_database() as name'
const nameOf = ({ url }: { url: string }) => new URL(url).pathname.slice(1)

describe('several hosts', { concurrency: true }, () => {
  test('regression: the one that takes writes is found, by the pool and by single connections', async (t) => {
    const { second, both } = await makeHosts(t)
    const pool = openPool(t, both, 2)
    assert.deepEqual((await pool.query(WHERE)).rows, [{ name: nameOf(second) }])
    const client = createClient(both, 'paybell test')
    await client.connect()
    assert.deepEqual((await client.query(WHERE)).rows, [{ name: nameOf(second) }])
    await client.end()
  })

  test('regression: after a failover the next connection leads to the new primary', async (t) => {
    const { first, second, ways, both } = await makeHosts(t)
    const pool = openPool(t, both, 2)
    await pool.query(WHERE)
    await makeReadOnly(second.url, true)
    await makeReadOnly(first.url, false)
    for (const way of ways) way.cut()
    // The connection that was cut may be the first to be taken: that one is away, no other.
    const after = await pool.query(WHERE).catch((error) => {
      assert.ok(isDatabaseAway(error))
      return pool.query(WHERE)
    })
    assert.deepEqual(after.rows, [{ name: nameOf(first) }])
  })

  test('hosts that are gone or silent are passed over', async (t) => {
    const { second, ways, address } = await makeHosts(t)
    ways[0].isSilent = true
    const hosts = [NOWHERE, ...ways.map(({ port }) => `127.0.0.1:${port}`)].join(',')
    const pool = openPool(t, address(hosts), 2)
    assert.deepEqual((await pool.query(WHERE)).rows, [{ name: nameOf(second) }])
  })

  test('where none takes writes the database is away, and each host says why', async (t) => {
    const { ways, address } = await makeHosts(t)
    const url = address(`${NOWHERE},127.0.0.1:${ways[0].port}`)
    await assert.rejects(createClient(url, 'paybell test').connect(), (error) => {
      assert.ok(error instanceof AggregateError && isDatabaseAway(error))
      assert.match(error.errors.map(String).join(), /ECONNREFUSED.*takes no writes/)
      return true
    })
  })
})

describe('one host that takes no writes', () => {
  test('regression: what it answers to a write is a database that is away, and the connection goes', async (t) => {
    const { url } = await cloneDatabase()
    await makeReadOnly(url, true)
    const pool = openPool(t, url, 2)
    const insert = 'insert into processes values (gen_random_uuid(), $1, $1, now(), now())'
    await assert.rejects(
      inTransaction(pool, (db) => db.query(insert, ['a'])),
      isDatabaseAway,
    )
    assert.equal(pool.totalCount, 0)
    assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1, 'reading goes on')
    await makeReadOnly(url, false)
    // The session that read was opened before.
    await assert.rejects(
      inTransaction(pool, (db) => db.query(insert, ['a'])),
      isDatabaseAway,
    )
    await inTransaction(pool, (db) => db.query(insert, ['a']))
  })

  test('regression: it is refused at start, with a sentence', async () => {
    const { url } = await cloneDatabase()
    await makeReadOnly(url, true)
    await assert.rejects(checkDatabase(url), (error) => {
      assert.match(String(error), /takes no writes/)
      return isDatabaseAway(error)
    })
  })

  test('an address that asks for writes does not take it', async () => {
    const { url } = await cloneDatabase()
    await makeReadOnly(url, true)
    const asking = new URL(url)
    asking.searchParams.set('target_session_attrs', 'read-write')
    await assert.rejects(createClient(asking.href, 'paybell test').connect(), /takes no writes/)
  })
})

describe('asking in order', () => {
  const never = () => new Promise<never>(() => {})

  test('the next is asked when one fails, and none after the first answer', async () => {
    const asked: string[] = []
    const ask = async (name: string) => {
      asked.push(name)
      if (name === 'a') throw new Error('refused')
      return name
    }
    assert.equal(await findFirst(['a', 'b', 'c'], ask, 60_000), 'b')
    assert.deepEqual(asked, ['a', 'b'])
  })

  test('the next is asked beside one that lets us wait', async () => {
    const ask = (name: string) => (name === 'a' ? never() : Promise.resolve(name))
    assert.equal(await findFirst(['a', 'b'], ask, 1), 'b')
  })

  test('all failures are told together', async () => {
    const ask = async (name: string) => {
      throw new Error(name)
    }
    await assert.rejects(findFirst(['a', 'b'], ask, 1), (error) => {
      assert.ok(error instanceof AggregateError)
      assert.deepEqual(
        error.errors.map(({ message }) => message),
        ['a', 'b'],
      )
      return true
    })
  })
})
