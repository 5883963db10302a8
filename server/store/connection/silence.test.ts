import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { after, describe, type TestContext, test } from 'node:test'
import pg from 'pg'
import { cloneDatabase, openPool } from '../../../test/support/database.ts'
import { startTcpProxy } from '../../../test/support/database-proxy.ts'
import { isDatabaseAway } from './db.ts'
import { CONNECT_MS_MAX } from './session.ts'
import { type AskServer, SILENCE, watchForSilence } from './silence.ts'

const { url } = await cloneDatabase()

test('regression: a database that has gone silent ends all its connections, long before a statement may', async (t) => {
  const proxy = await startTcpProxy(t, url)
  // Were it the statement's time that ends it, this test would time out.
  const pool = openPool({ after }, proxy.url, 3, 300_000)
  // Two at once: one that is free would serve both statements.
  for (const client of await Promise.all([pool.connect(), pool.connect()])) client.release()
  assert.equal(pool.idleCount, 2)
  proxy.isSilent = true
  await assert.rejects(pool.query('select 1'), (error) => {
    assert.match(String(error), /silent/)
    return isDatabaseAway(error)
  })
  assert.equal(pool.totalCount, 0, 'those that were idle are as dead')
  proxy.isSilent = false
  assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1)
})

test('regression: what a request may wait for a silent database adds up to less than 10 s', () => {
  // One batch of payments is under way and silent; the next waits for it, and then for a connection.
  const silentMs = SILENCE.lookEveryMs * (SILENCE.endAfter + 1)
  assert.ok(silentMs + CONNECT_MS_MAX < 10_000)
})

test('a statement that takes its time is not silence: the server answers when it is asked', async (t) => {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  t.after(() => pool.end())
  let answered = 0
  const ask = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.end()
    answered++
  }
  watchForSilence(pool, ask, { lookEveryMs: 20, suspectAfter: 3, endAfter: 1_000 })
  const slow = await pool.connect()
  const asleep = slow.query('select 1 as one from pg_sleep(600)').catch((error) => error.code)
  while (answered < 2) await new Promise(setImmediate)
  const canceller = new pg.Client({ connectionString: url })
  await canceller.connect()
  await canceller.query(
    `select pg_cancel_backend(pid) from pg_stat_activity where query like '%pg_sleep(600)' and pid <> pg_backend_pid()`,
  )
  await canceller.end()
  assert.equal(await asleep, '57014', 'it was the server that ended it')
  slow.release()
})

class FakeClient extends EventEmitter {
  readonly host: string
  readonly port = 5432
  ended: Error | null = null
  readonly connection = {
    stream: {
      bytesRead: 100,
      destroy: (error: Error) => {
        this.ended = error
      },
    },
  }
  constructor(host: string) {
    super()
    this.host = host
  }
  hear(): void {
    this.connection.stream.bytesRead++
  }
}

/** A pool whose connections are numbers of bytes, and a clock that the test turns. */
function watched(t: TestContext, ask: AskServer) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const pool = Object.assign(new EventEmitter(), { ended: false })
  watchForSilence(pool as unknown as pg.Pool, ask)
  return {
    open(host = 'a'): FakeClient {
      const client = new FakeClient(host)
      pool.emit('connect', client)
      return client
    },
    take: (client: FakeClient) => pool.emit('acquire', client),
    giveBack: (client: FakeClient) => pool.emit('release', undefined, client),
    async look(times: number): Promise<void> {
      for (let look = 0; look < times; look++) {
        t.mock.timers.tick(SILENCE.lookEveryMs)
        await new Promise(setImmediate)
      }
    },
  }
}

const never: AskServer = () => new Promise(() => {})
const { suspectAfter, endAfter } = SILENCE

describe('what counts as silence', () => {
  test('nothing heard, and no answer: all connections of the server end, and no sooner', async (t) => {
    const pool = watched(t, never)
    const [waiting, idle] = [pool.open(), pool.open()]
    pool.take(waiting)
    await pool.look(endAfter - 1)
    assert.equal(waiting.ended, null)
    await pool.look(1)
    for (const { ended } of [waiting, idle]) assert.match(String(ended), /silent/)
  })

  test('a byte on any connection is a sign of life: nothing is asked', async (t) => {
    const pool = watched(t, () => assert.fail('asked'))
    const [waiting, busy] = [pool.open(), pool.open()]
    pool.take(waiting)
    for (let times = 0; times < 10; times++) {
      await pool.look(suspectAfter - 1)
      busy.hear()
    }
    assert.equal(waiting.ended, null)
  })

  test('connections that no statement waits for may rest', async (t) => {
    const pool = watched(t, () => assert.fail('asked'))
    const client = pool.open()
    pool.take(client)
    pool.giveBack(client)
    await pool.look(10 * endAfter)
    assert.equal(client.ended, null)
  })

  test('an answer clears it, and it is asked again after as long a silence', async (t) => {
    let asked = 0
    const pool = watched(t, async () => {
      asked++
    })
    const client = pool.open()
    pool.take(client)
    await pool.look(4 * endAfter)
    assert.equal(client.ended, null)
    assert.equal(asked, (4 * endAfter) / suspectAfter)
  })

  test('a server that says it is full is not silent; one that cannot be connected to is', async (t) => {
    const full = watched(t, () => Promise.reject(new pg.DatabaseError('too many', 1, 'error')))
    const served = full.open()
    full.take(served)
    await full.look(endAfter + 1)
    assert.equal(served.ended, null)
    t.mock.timers.reset()
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
    const gone = watched(t, () => Promise.reject(refused))
    const lost = gone.open()
    gone.take(lost)
    await gone.look(endAfter)
    assert.match(String(lost.ended), /silent/)
  })

  test('the silence of one host is not that of another', async (t) => {
    const asked: string[] = []
    const pool = watched(t, ({ host }) => {
      asked.push(host)
      return never({ host, port: 0 }, new AbortController().signal)
    })
    const [dead, alive] = [pool.open('a'), pool.open('b')]
    pool.take(dead)
    pool.take(alive)
    for (let times = 0; times < endAfter; times++) {
      alive.hear()
      await pool.look(1)
    }
    assert.match(String(dead.ended), /silent/)
    assert.equal(alive.ended, null)
    assert.deepEqual(asked, ['a'])
  })
})
