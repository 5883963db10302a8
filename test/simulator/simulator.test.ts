// A slice of the simulation for every change; `npm run sim` lives through more. A seed that fails here
// is repeated by the command that it prints.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sampleName, sampleVariable } from '../support/sample.ts'
import { SIMULATOR, seedsOf } from '../support/slices.ts'
import { contendedPlan, cutEverywhere, cutOnce } from './crash-points.ts'
import { jumpedPlan } from './jumped.ts'
import { liveThrough } from './live-through.ts'
import { latestPlan, misledPlan, overtakenPlan } from './overtaken.ts'
import { simulate } from './simulate.ts'
import { loadSubject } from './subject.ts'

const subject = await loadSubject()

test('the same seed lives through the same events', async () => {
  for (const seed of [1, 7, 42, 500]) {
    const one = await simulate(seed, subject)
    const other = await simulate(seed, subject)
    assert.equal(one.hash, other.hash)
    assert.equal(one.steps, other.steps)
  }
  const hashes = new Set<string>()
  for (let seed = 1; seed <= 20; seed++) hashes.add((await simulate(seed, subject)).hash)
  assert.equal(hashes.size, 20, 'different seeds are different runs')
})

test('a simulation cannot reach the clock, the timers, the dice or the network', async () => {
  const { forbidTheWorld } = await import('./forbidden.ts')
  const restore = forbidTheWorld()
  try {
    assert.throws(() => Date.now(), /not to be used/)
    assert.throws(() => new Date(), /not to be used/)
    assert.throws(() => setTimeout(() => {}, 1), /not to be used/)
    assert.throws(() => Math.random(), /not to be used/)
    assert.throws(() => performance.now(), /not to be used/)
    assert.throws(() => fetch('https://example.com'), /not to be used/)
    assert.throws(() => crypto.randomUUID(), /not to be used/)
    assert.equal(new Date(0).getTime(), 0)
  } finally {
    restore()
  }
  assert.ok(Date.now() > 0 && Math.random() < 1)
})

test('regression: seeds that once showed a fault are clean', async () => {
  // An update whose elder of the same transaction found no room; a clock whose first reading was wrong; an endpoint
  // whose resumption was noted with a time of long ago, by a process whose clock was about to jump; an endpoint that
  // lost its place in a full memory by a second retry in the same moment; a lane that went on reading what was parked of
  // an endpoint that was paused; two retries in one moment, of which the second commits when the attempt has begun (a
  // fault of the checker); a shard that was given up because an update had ended before its run could begin; a lane
  // that learnt of parked rows just after its endpoint was found to be paused, and so read them without end; a clock
  // that was set back between the take-off of an attempt and its beginning; a process that was frozen as it sent, and
  // heard of a lost lease in the middle of that turn (a fault of the simulator); a retry of all that is owed, during the
  // attempt of a parked one; what is owed to one endpoint, in a memory that is filled by one payment of another that is
  // down (a fault of the checker); callers who give up at a slow database, and ask again and again (of the simulator);
  // a retry during an attempt, before whose end the database's clock is set back: it waits for its delay, and is excused.
  for (const seed of [
    ...[700000099, 390041903, 70070, 201781, 204734598, 972405003],
    ...[530015133, 530004186, 530021928, 810002300, 810001499],
    ...[530012796, 530026429, 910005933],
  ]) {
    assert.deepEqual((await simulate(seed, subject)).violations, [], `seed ${seed}`)
  }
})

test(`no invariant breaks in ${SIMULATOR.fixed} fixed and ${SIMULATOR.random} random seeds`, async (t) => {
  const seeds = seedsOf(SIMULATOR)
  t.diagnostic(`random seeds from ${seeds[SIMULATOR.fixed]} on`)
  await liveThrough(seeds, subject)
})

test('F1: a process may die at every point of a delivery’s life, and two at every other', async (t) => {
  const { points, pairs, broken } = await cutEverywhere(subject)
  const again = sampleVariable(sampleName())
  t.diagnostic(`${points} crash points, ${pairs} pairs, drawn by the commit (again: ${again})`)
  assert.deepEqual(broken, [])
  assert.ok(points >= 15, `only ${points} points: the world has become too small`)
})

test('F14: of processes that accept the same two updates at once, either may die at every point', async (t) => {
  const plan = contendedPlan(subject)
  for (const node of [0, 1]) {
    const { points, broken } = await cutOnce(subject, plan, node)
    t.diagnostic(`${points} crash points of process ${node}`)
    assert.deepEqual(broken, [])
    assert.ok(points >= 40, `only ${points} points: the world has become too small`)
  }
  const { counters, record } = await simulate(plan.seed, subject, { plan })
  assert.ok(counters.counts.get('payment busy'), 'the processes never met')
  assert.deepEqual(
    record.writes.map(({ event }) => event?.sequence).filter((sequence) => sequence !== undefined),
    [1, 2],
  )
})

test('F11: a clock that is days ahead for a while ends no delivery and disables no endpoint', async () => {
  const plan = jumpedPlan(subject)
  const { record, counters } = await simulate(plan.seed, subject, { plan })
  assert.equal(counters.counts.get('database clock jumps by minutes'), 1)
  assert.deepEqual(
    record.endpoints.flatMap(({ acts }) => acts.map(({ kind }) => kind)),
    ['register'],
  )
  const states = record.finals.map(({ state }) => state)
  assert.ok(states.length > 0 && !states.includes('EXHAUSTED'), states.join(' '))
  assert.ok(record.deliveries.every(({ state }) => state !== 'PENDING'))
})

for (const [mood, what] of [
  ['late', 'late answer ahead of an older update'],
  ['losing', 'lost answer ahead of an older update'],
] as const) {
  test(`regression: a payment does not go backwards after a ${what}`, async (t) => {
    for (const strandMax of [100, 1]) {
      const plan = overtakenPlan(subject, mood, strandMax)
      const { violations, counters, record } = await simulate(plan.seed, subject, { plan })
      assert.deepEqual(violations, [])
      assert.ok(counters.counts.get(what), `never came up: ${what}`)
      const [first, second] = record.deliveries.toSorted((a, b) => a.sequence - b.sequence)
      assert.deepEqual([first?.state, second?.state], ['SUPERSEDED', 'DELIVERED'])
      const { points, broken } = await cutOnce(subject, plan)
      t.diagnostic(`${points} crash points, strands read ${strandMax} at a time`)
      assert.deepEqual(broken, [])
    }
  })
}

test('regression: an older update never follows a newer one that went ahead by a wrong clock, wherever its process dies', async (t) => {
  for (const strandMax of [1, 100]) {
    const plan = misledPlan(subject, 'losing', strandMax)
    const { counters } = await simulate(plan.seed, subject, { plan })
    assert.ok(counters.counts.get('superseded after patience'), 'the newer one never went ahead')
    const { points, broken } = await cutOnce(subject, plan)
    t.diagnostic(`${points} crash points, strands read ${strandMax} at a time`)
    assert.deepEqual(broken, [])
  }
})

for (const mood of ['late', 'losing', 'failing'] as const) {
  test(`under latest the newer of two goes at once, at a receiver that is ${mood}`, async (t) => {
    const plan = latestPlan(subject, mood, 1)
    const { violations, record } = await simulate(plan.seed, subject, { plan })
    assert.deepEqual(violations, [])
    const [first, second] = record.deliveries.toSorted((a, b) => a.sequence - b.sequence)
    assert.deepEqual([first?.state, second?.state], ['SUPERSEDED', 'DELIVERED'])
    const sent = record.requests.map(({ sequence }) => sequence)
    assert.deepEqual(sent, sent.toSorted(), 'never back to the older one')
    const ofSecond = record.requests.find(({ sequence }) => sequence === 2)
    const write = record.writes.find(({ version }) => version === 2)
    const waitMs = (ofSecond?.sentAtMs ?? Infinity) - (write?.acknowledgedAtMs ?? 0)
    assert.ok(waitMs < 1_000, `it waited ${waitMs} ms for patience that it does not need`)
    const { points, broken } = await cutOnce(subject, plan)
    t.diagnostic(`${points} crash points`)
    assert.deepEqual(broken, [])
  })
}
