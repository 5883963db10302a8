import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { ServiceError } from '../../core/plain/errors.ts'
import { createPool, databaseAway, inTransaction, isDatabaseAway } from './db.ts'

const { pool, url } = await cloneDatabase({ connectionsMax: 2 })
const coded = (code: string) => Object.assign(new Error('x'), { code })

test('A10: what says "not now" is a database that is away', () => {
  const away: unknown[] = [
    ...['08006', '08P01', '53100', '53300', '57P01', '57P03', '57014', '58030', 'XX000'],
    ...['25P03', '25P04', '40001', '40003', '40P01', '55P03'],
    ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT'],
  ].map(coded)
  away.push(
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    new Error('timeout expired'),
    new Error('Query read timeout'),
    new Error('Client has encountered a connection error and is not queryable'),
    new Error('Cannot use a pool after calling end on the pool'),
    new AggregateError([coded('EINVAL'), coded('ECONNREFUSED')]),
  )
  for (const error of away) assert.ok(isDatabaseAway(error), String(Object.entries(error as Error)))
})

test('regression: a database that takes no writes is away', () => {
  assert.ok(isDatabaseAway(coded('25006')))
})

test('what refuses the statement, and our own mistakes, are not', () => {
  const here: unknown[] = ['23505', '22P02', '42P01', '42601', '28P01', '3D000', '25P02', 'EPERM']
  const errors: unknown[] = here.map((code) => coded(code as string))
  errors.push(
    new TypeError('x is not a function'),
    new ServiceError('not-found', 'There is nothing here.'),
    new AggregateError([]),
    Object.assign(coded('ENOENT'), { syscall: 'open' }),
    'ECONNREFUSED',
    { code: 'ECONNREFUSED' },
    null,
    undefined,
  )
  for (const error of errors) assert.ok(!isDatabaseAway(error), String(error))
})

test('to the outside it is one error, with a time to come back; the cause stays inside', () => {
  const cause = coded('57P01')
  const error = databaseAway(cause)
  assert.equal(error.code, 'database-away')
  assert.equal(error.retryAfterSeconds, 2)
  assert.equal(error.cause, cause)
  assert.ok(!error.message.includes('57P01'))
})

test('a transaction that throws leaves nothing behind and gives its connection back', async () => {
  const insert = 'insert into processes values (gen_random_uuid(), $1, $1, now(), now())'
  await assert.rejects(
    inTransaction(pool, async (db) => {
      await db.query(insert, ['a'])
      throw new Error('changed my mind')
    }),
    /changed my mind/,
  )
  await inTransaction(pool, (db) => db.query(insert, ['b']))
  const { rows } = await pool.query('select host from processes')
  assert.deepEqual(rows, [{ host: 'b' }])
})

test('a commit that travels behind a failing statement commits nothing, and the statement tells why', async () => {
  const insert = 'insert into processes values (gen_random_uuid(), $1, $1, now(), now())'
  const failing = inTransaction(pool, (db, commit) =>
    Promise.all([db.query(insert, ['c']), db.query('select 1 / 0'), commit()]),
  )
  await assert.rejects(failing, /division by zero/)
  await inTransaction(pool, (db, commit) => Promise.all([db.query(insert, ['d']), commit()]))
  const { rows } = await pool.query(`select host from processes where host in ('c', 'd')`)
  assert.deepEqual(rows, [{ host: 'd' }])
})

test('a connection that died in a transaction is away, and leaves the pool', async () => {
  const dying = inTransaction(pool, async (db) => {
    const { rows } = await db.query('select pg_backend_pid() as pid')
    await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await db.query('select 1')
  })
  await assert.rejects(dying, (error) => isDatabaseAway(error))
  assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1)
})

test('a statement that takes too long ends as a database that is away', async () => {
  const hasty = createPool({
    url,
    connectionsMax: 1,
    onIdleError: () => {},
    applicationName: 'paybell test',
    statementTimeoutMs: 20,
  })
  await assert.rejects(hasty.query('select pg_sleep(5)'), (error) => isDatabaseAway(error))
  await hasty.end()
})

test('bigint columns are numbers, and tables are found without their schema', async () => {
  const { rows } = await pool.query('select epoch, count(*) over () as all from leases limit 1')
  assert.deepEqual(rows, [{ epoch: 0, all: 64 }])
})
