import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { setStatus, storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import { inTransaction } from '../connection/db.ts'
import { advanceMove, beginMove, findClientMove, pauseAll, resumeAll } from './client-moves.ts'

const { pool } = await cloneDatabase()

test('regression: an endpoint that its owner resumed while the move began goes on after it', async () => {
  const { clientKey } = await storeClient(pool)
  const active = await storeEndpoint(pool, clientKey)
  const resumed = await storeEndpoint(pool, clientKey, { status: 'PAUSED' })
  await storeEndpoint(pool, clientKey, { status: 'PAUSED' })
  const move = { clientKey, clientId: randomUUID(), toCell: 7, toAddress: 'https://seven.example' }
  const now = new Date()
  await inTransaction(pool, (db) => beginMove(db, move, now))
  // By a process that does not know of the move yet.
  await setStatus(pool, resumed, 'ACTIVE')
  const pause = () => inTransaction(pool, (db) => pauseAll(db, clientKey, now))
  assert.deepEqual([await pause(), await pause()], [true, false])

  const { activeEndpoints = [] } = (await findClientMove(pool, move.clientId)) ?? {}
  await inTransaction(pool, (db) => resumeAll(db, clientKey, activeEndpoints, now))
  const { rows } = await pool.query(
    `select id from endpoints where client_key = $1 and status = 'ACTIVE' order by id`,
    [clientKey],
  )
  assert.deepEqual(
    rows.map(({ id }) => id),
    [active.endpointId, resumed.endpointId].toSorted(),
  )
})

test('regression: a state that is not what was looked at is not left: nothing may be removed after it', async () => {
  const { clientKey } = await storeClient(pool)
  const advance = () =>
    inTransaction(pool, (db) =>
      advanceMove(db, { clientKey, state: 'DRAINING' }, 'CLOSING', new Date()),
    )
  await assert.rejects(advance, /no longer DRAINING/)
  const move = { clientKey, clientId: randomUUID(), toCell: 7, toAddress: 'https://seven.example' }
  await inTransaction(pool, (db) => beginMove(db, move, new Date()))
  await advance()
  await assert.rejects(advance, /no longer DRAINING/)
  const found = await findClientMove(pool, move.clientId.toUpperCase())
  assert.equal(found?.state, 'CLOSING')
})
