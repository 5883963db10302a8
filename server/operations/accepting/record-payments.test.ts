import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cloneDatabase } from '../../../test/support/database.ts'
import { HandClock } from '../../../test/support/injected-server.ts'
import { sampleWrite } from '../../../test/support/payment-sample.ts'
import { readPending, storeClient, storeEndpoint } from '../../../test/support/stored-deliveries.ts'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { recordingOn } from './postgres-payment-store.ts'
import { acceptPayments, CONSUMED_ELSEWHERE, recordPayments } from './record-payments.ts'

const { pool } = await cloneDatabase()
const { clientKey, accountId } = await storeClient(pool)
const { endpointId } = await storeEndpoint(pool, clientKey, { accountId })
const accounts = { find: async () => new Map([[accountId, clientKey]]) }

/** Accepts one payment; returns each hand-off to the engine. */
async function record(): Promise<{ handOffs: (readonly HandedOff[])[]; error: Error | null }> {
  const handOffs: (readonly HandedOff[])[] = []
  const recording = recordingOn({ pool, clock: new HandClock(), newId: randomUUID }, accounts)
  const engine = {
    beginAccept: () => (deliveries: readonly HandedOff[]) => void handOffs.push(deliveries),
  }
  const write = sampleWrite({ id: randomUUID(), document: undefined })
  try {
    await acceptPayments(recording, engine, [{ accountId, write }])
    return { handOffs, error: null }
  } catch (error) {
    return { handOffs, error: error as Error }
  }
}

/** From now on every commit that has fanned out runs this, when all its statements have been answered. */
async function atCommit(statement: string): Promise<void> {
  await pool.query(`
    create or replace function fail_at_commit() returns trigger language plpgsql as
      $$ begin ${statement}; return null; end $$`)
  await pool.query('drop trigger if exists fails_at_commit on events')
  await pool.query(`
    create constraint trigger fails_at_commit after insert on events
      deferrable initially deferred for each row execute function fail_at_commit()`)
}

test('what was committed is handed off, once', async () => {
  const { handOffs, error } = await record()
  assert.equal(error, null)
  assert.deepEqual(
    handOffs.map((deliveries) => deliveries.map((delivery) => delivery.endpointId)),
    [[endpointId]],
  )
})

test('regression: a change that was read under another lease than the source’s own is refused, and its neighbours are recorded', async () => {
  const recording = recordingOn({ pool, clock: new HandClock(), newId: randomUUID }, accounts)
  const lease = randomUUID()
  const former = randomUUID()
  await pool.query(`insert into consumers values ('nats', $1)`, [lease])
  const changes = [former, lease, undefined].map((under) => ({
    accountId,
    write: sampleWrite({ id: randomUUID(), document: undefined }),
    ...(under === undefined ? {} : { readUnder: { source: 'nats', lease: under } }),
  }))
  for (const locking of ['try', 'wait'] as const) {
    const { results } = await recordPayments(recording, changes, locking)
    assert.equal(results[0], CONSUMED_ELSEWHERE)
    assert.ok(results.slice(1).every((result) => !(result instanceof Error)))
  }
})

for (const [how, statement] of [
  ['is refused', `raise exception 'not this one'`],
  ['breaks its connection', 'perform pg_terminate_backend(pg_backend_pid())'],
] as const) {
  test(`regression: nothing is handed off of a fan-out whose commit ${how}`, async () => {
    await atCommit(statement)
    const before = await readPending(pool)
    const { handOffs, error } = await record()
    assert.ok(error)
    assert.deepEqual(handOffs, [[]], 'the engine hears that it is over, and of no delivery')
    assert.deepEqual(await readPending(pool), before, 'nothing is owed')
  })
}
