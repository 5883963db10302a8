import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTick, testEnvironment } from '../../../test/support/engine-parts.ts'
import { LEASE_POLICY } from '../../core/delivery/lease.ts'
import { EARLY_RENEWAL_MS, Renewals } from './renewals.ts'

/** Renewals that are counted, and end at once unless the test holds them up. */
async function startedRenewals() {
  const environment = testEnvironment({})
  const world = { count: 0, nextSilentAtMs: Number.POSITIVE_INFINITY, hold: Promise.resolve() }
  const renewals = new Renewals(environment, LEASE_POLICY, {
    async renew() {
      world.count++
      await world.hold
    },
    nextSilentAtMs: () => world.nextSilentAtMs,
  })
  await renewals.start()
  const waitMs = () => environment.timers.waitingMs[0]
  const ring = async () => {
    environment.timers.ring()
    await nextTick()
  }
  return { renewals, world, clock: environment.clock, timers: environment.timers, waitMs, ring }
}

test('the next comes when its time has come', async () => {
  const { world, waitMs, ring } = await startedRenewals()
  assert.equal(world.count, 1)
  assert.equal(waitMs(), LEASE_POLICY.renewEveryMs)
  await ring()
  assert.equal(world.count, 2)
  assert.equal(waitMs(), LEASE_POLICY.renewEveryMs)
})

test('when leases have moved, it does not wait for the next time', async () => {
  const { renewals, clock, waitMs, world, ring } = await startedRenewals()
  clock.advance(1)
  renewals.soon()
  assert.equal(waitMs(), 0)
  await ring()
  assert.equal(world.count, 2)
})

test('however often it is asked, it renews once in a while', async () => {
  const { renewals, clock, timers, waitMs, world, ring } = await startedRenewals()
  for (let n = 0; n < 1_000; n++) renewals.soon()
  assert.deepEqual(timers.waitingMs, [EARLY_RENEWAL_MS])
  await ring()
  clock.advance(0.05)
  for (let n = 0; n < 1_000; n++) renewals.soon()
  assert.equal(waitMs(), EARLY_RENEWAL_MS - 50)
  assert.equal(world.count, 2)
})

test('asked while it renews, it renews again: the change may have come too late for that one', async () => {
  const { renewals, waitMs, world, ring } = await startedRenewals()
  let end = () => {}
  world.hold = new Promise<void>((resolve) => {
    end = resolve
  })
  await ring()
  renewals.soon()
  renewals.soon()
  assert.equal(waitMs(), undefined, 'never two at once')
  end()
  await nextTick()
  assert.equal(waitMs(), EARLY_RENEWAL_MS)
  await ring()
  assert.equal(world.count, 3)
  assert.equal(waitMs(), LEASE_POLICY.renewEveryMs)
})

test('a lease that falls silent is looked at when it may be taken, not at the next round', async () => {
  const { clock, world, waitMs, ring } = await startedRenewals()
  world.nextSilentAtMs = clock.monotonicMs() + 1_200
  await ring()
  assert.equal(waitMs(), 1_200)
  world.nextSilentAtMs = clock.monotonicMs() + 1
  await ring()
  assert.equal(waitMs(), EARLY_RENEWAL_MS)
})

test('stopped, it neither waits nor hears', async () => {
  const { renewals, timers, world } = await startedRenewals()
  renewals.stop()
  renewals.soon()
  assert.deepEqual(timers.waitingMs, [])
  assert.equal(world.count, 1)
})

test('asked before it has started, it waits for the start', async () => {
  const environment = testEnvironment({})
  const renewals = new Renewals(environment, LEASE_POLICY, {
    renew: () => Promise.reject(new Error('not yet')),
    nextSilentAtMs: () => 0,
  })
  renewals.soon()
  assert.deepEqual(environment.timers.waitingMs, [])
})
