// Transactions that interleave: the twin lets the same ones through, makes the same ones wait and leaves the
// same rows as PostgreSQL. Where the twin has no say (addresses of endpoints, the database's clock),
// PostgreSQL alone is held to what the simulator takes for granted.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HandedOff } from '../../server/core/delivery/queued-delivery.ts'
import { UNSIGNED } from '../../server/core/delivery/session-signs.ts'
import {
  PAYMENT_BUSY,
  type PaymentChange,
  type RecordedChanges,
} from '../../server/operations/accepting/record-payments.ts'
import { replayDelivery } from '../../server/operations/deliveries/replay-delivery.ts'
import { saveEndpoint } from '../../server/operations/endpoints/save-endpoint.ts'
import { createEndpointChanges } from '../../server/operations/shared/endpoint-changes.ts'
import { isWaitOver } from '../../server/store/payments/payments.ts'
import { replayDelivery as replayInTwin } from '../simulator/twin-replays.ts'
import type { BothStores } from './both-stores.ts'
import { acceptOne, prepareBoth, recordAttempt, takeAll, writeOf } from './prepared.ts'
import { postgresSide, type Side, twinSide, untilWaiting } from './sides.ts'

/** Runs the script on PostgreSQL, then on the twin, and compares answers and rows. */
async function sameOnBoth(
  t: TestContext,
  script: (side: Side, both: BothStores) => Promise<RecordedChanges[]>,
): Promise<{ both: BothStores; found: RecordedChanges[] }> {
  const both = await prepareBoth(t)
  const startMs = both.nowMs
  const postgres = await postgresSide(both)
  t.after(() => postgres.end())
  both.takeIds()
  const found = await script(postgres, both)
  both.nowMs = startMs
  const twin = await script(twinSide(both), both)
  assert.deepEqual(twin.map(inOrder), found.map(inOrder))
  await both.sameState(t.name)
  return { both, found }
}

function inOrder({ results, deliveries }: RecordedChanges): RecordedChanges {
  const byId = (one: HandedOff, other: HandedOff) => (one.id < other.id ? -1 : 1)
  return { results, deliveries: deliveries.toSorted(byId) }
}

function change({ accountId }: BothStores, reference: string, id?: string): PaymentChange {
  return { accountId, write: writeOf(reference, id) }
}

function sequences(recorded: readonly RecordedChanges[]): unknown[] {
  return recorded.flatMap(({ results }) =>
    results.map((result) => (result instanceof Error ? result : result.event?.sequence)),
  )
}

/** A point where a transaction stops: others see that it was reached, and let it go on. */
function gate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: () => opened.resolve(),
    pass: () => {
      reached.resolve()
      return opened.promise
    },
  }
}

test('two writers of one payment: the second finds it busy, and comes after the first', async (t) => {
  const { found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    const first = side.record([change(both, 'first')], 'try', locked.pass)
    await locked.reached
    const other = change(both, 'other', '5d0c63c4-9a6e-4a0e-8f0c-0d7c4d6b1a01')
    const busy = await side.record([change(both, 'second'), other])
    locked.open()
    return [await first, busy, await side.record([change(both, 'second')])]
  })
  assert.deepEqual(sequences(found), [1, PAYMENT_BUSY, 1, 2])
})

test('a writer that waits for a payment reads what the one before has committed', async (t) => {
  const { found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    const first = side.record([change(both, 'first')], 'try', locked.pass)
    await locked.reached
    const second = side.record([change(both, 'second')], 'wait')
    await side.untilWaiting(1)
    locked.open()
    return [await first, await second]
  })
  assert.deepEqual(sequences(found), [1, 2])
})

test('a writer that waits for a payment finds nothing of a transaction that is rolled back', async (t) => {
  const { found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    const first = side.record([change(both, 'first')], 'try', async () => {
      await locked.pass()
      throw new Error('rolled back')
    })
    await locked.reached
    const second = side.record([change(both, 'second')], 'wait')
    await side.untilWaiting(1)
    locked.open()
    await assert.rejects(first, /rolled back/)
    return [await second]
  })
  assert.deepEqual(sequences(found), [1])
})

test('a wait for a payment ends with the statement’s time, and harms nothing', async (t) => {
  const { found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    const first = side.record([change(both, 'first')], 'try', locked.pass)
    await locked.reached
    await assert.rejects(side.recordImpatiently([change(both, 'second')]), isWaitOver)
    locked.open()
    return [await first, await side.record([change(both, 'third')])]
  })
  assert.deepEqual(sequences(found), [1, 2])
})

test('an endpoint that is paused between the fan-out and its commit is owed what was fanned out', async (t) => {
  const { both } = await sameOnBoth(t, async (side, both) => {
    const commits = await side.holdCommits()
    const first = side.record([change(both, 'first')])
    await commits.untilOneIsHeld()
    await side.changeStatus(both.endpointIds[0] as string, 'PAUSED')
    await commits.release()
    return [await first]
  })
  assert.equal(both.twin.tables.pending.size, 2)
})

test('an endpoint that is deleted between the fan-out and its commit is owed what was fanned out', async (t) => {
  const { both } = await sameOnBoth(t, async (side, both) => {
    const commits = await side.holdCommits()
    const first = side.record([change(both, 'first')])
    await commits.untilOneIsHeld()
    await side.remove(both.endpointIds[0] as string)
    await commits.release()
    return [await first]
  })
  // The engine cancels it when it comes to send it: it asks for the endpoint first.
  assert.equal(both.twin.tables.pending.size, 2)
})

test('an endpoint that is deleted between the fan-out and the save is owed it, until the engine looks', async (t) => {
  const { both, found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    const first = side.record([change(both, 'first')], 'try', locked.pass)
    await locked.reached
    await side.remove(both.endpointIds[0] as string)
    locked.open()
    return [await first]
  })
  assert.equal(both.twin.tables.pending.size, 2, 'the endpoints were read before')
  // What the engine does before it sends anything: it asks for the endpoint, and finds it deleted.
  await takeAll(both)
  const owed = found.flatMap(({ deliveries }) => deliveries)
  const held = owed.map(({ clientKey, id, shard }) => ({ clientKey, id, shard, epoch: 1 }))
  await both.store(0).settleInactive(held, both.nowMs)
  both.twin.outcomes.settleInactive(held, both.nowMs)
  await both.sameState(t.name)
  const ends = [...both.twin.tables.final.values()].map(({ endpointId, state }) => [
    endpointId,
    state,
  ])
  assert.deepEqual(ends, [[both.endpointIds[0], 'CANCELLED']])
  assert.equal(both.twin.tables.pending.size, 1)
})

test('an endpoint that is registered before a write, or while it waits for its payment, is owed it', async (t) => {
  const registered: string[] = []
  const { found } = await sameOnBoth(t, async (side, both) => {
    const locked = gate()
    registered.push(await side.register('https://before.example/'))
    const first = side.record([change(both, 'first')], 'try', locked.pass)
    await locked.reached
    const second = side.record([change(both, 'second')], 'wait')
    await side.untilWaiting(1)
    registered.push(await side.register('https://late.example/'))
    locked.open()
    return [await first, await second]
  })
  const [before, late] = registered
  const endpoints = found.map(
    ({ deliveries }) => new Set(deliveries.map(({ endpointId }) => endpointId)),
  )
  assert.deepEqual(
    endpoints.map((owed) => [owed.has(before as string), owed.has(late as string)]),
    [
      [true, false],
      [true, true],
    ],
  )
})

test('a fan-out that fails leaves no payment and no event', async (t) => {
  const both = await prepareBoth(t)
  const { pool } = both.database
  await pool.query(`
    create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no delivery today'; end $$;
    create trigger refuses before insert on pending_deliveries
      for each row execute function refuse()`)
  const postgres = await postgresSide(both)
  t.after(() => postgres.end())
  await assert.rejects(postgres.record([change(both, 'first')]), /no delivery today/)
  await both.sameState(t.name)
})

test('of two replays at once one begins a run, and the other finds the delivery pending', async (t) => {
  const both = await prepareBoth(t)
  const row = await acceptOne(both)
  await takeAll(both)
  await recordAttempt(both, row, { isDelivered: true })
  const { pool } = both.database
  const holder = await pool.connect()
  await holder.query('begin; select from final_deliveries for update')
  const owner = { clientKey: both.clientKey, accountId: null }
  const settled = Promise.allSettled([1, 2].map(() => replayDelivery(both.deps, owner, row.id)))
  await untilWaiting(pool, 2)
  await holder.query('commit')
  holder.release()
  const ends = await settled
  const codes = ends.map((end) => (end.status === 'rejected' ? end.reason.code : end.value.state))
  assert.deepEqual(codes.toSorted(), ['PENDING', 'delivery-not-final'])
  replayInTwin(both.twin, row.id, both.nowMs)
  await both.sameState(t.name)
})

for (const [what, isSame] of [
  ['one address at once: it is one endpoint', true],
  ['two addresses at once where one more may be: one is refused', false],
] as const) {
  test(`two processes register ${what}`, async (t) => {
    const both = await prepareBoth(t)
    const { pool } = both.database
    const holder = await pool.connect()
    // Nothing can be inserted, all can be read: both have looked before either has written.
    await holder.query('begin; lock table endpoints in share row exclusive mode')
    const endpointsMax = 2
    const registrations = [0, 1].map((number) => {
      const deps = {
        ...both.deps,
        config: { ...both.deps.config, endpointsMax },
        endpointChanges: createEndpointChanges({ requestsPerSecond: 200 }),
        documentLink: async () => 'https://paybell.test/documents/link',
      }
      const url = isSame ? 'https://one.example/' : `https://one.example/${number}`
      return saveEndpoint(deps, both.requestFor(url, null, 'k'))
    })
    const settled = Promise.allSettled(registrations)
    await untilWaiting(pool, 2)
    await holder.query('commit')
    holder.release()
    const ends = await settled
    const ids = new Set(
      ends.map((end) => (end.status === 'fulfilled' ? end.value : end.reason.code)),
    )
    const { rows } = await pool.query("select id from endpoints where url like '%one.example%'")
    assert.equal(rows.length, 1)
    assert.deepEqual(
      [...ids].toSorted(),
      [rows[0].id, ...(isSame ? [] : ['too-many-endpoints'])].toSorted(),
    )
  })
}

test('a renewal tells the database’s time, whatever time the process has', async (t) => {
  const both = await prepareBoth(t)
  const { pool } = both.database
  const read = async () => {
    const { rows } = await pool.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    )
    return rows[0]?.ms as number
  }
  const before = await read()
  t.mock.method(Date, 'now', () => before + 3_600_000)
  const { nowMs } = await both.store(0).renewLeases(new Map(), UNSIGNED, [], [])
  t.mock.restoreAll()
  assert.ok(before <= nowMs && nowMs <= (await read()))
})
