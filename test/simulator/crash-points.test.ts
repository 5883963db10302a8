// Which crashes are tried: some with each commit, and over the landings all.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRASHES } from '../support/slices.ts'
import { drawPhases, pairsOf, pointsOf } from './crash-points.ts'

/** Far more than there are phases, so that each is drawn. */
const LANDINGS = Array.from({ length: 20 * CRASHES.inMemoryEvery }, (_, landing) => `${landing}`)

test('what leaves something behind is a crash point in each landing', () => {
  for (const landing of LANDINGS) {
    const points = pointsOf(['n0 timer', 'n0 save', 'n0 beat', 'n1 send'], drawPhases(landing))
    assert.ok(points.includes(1) && points.includes(3), landing)
  }
})

test('regression: over the landings every crash in memory and every pair is tried', () => {
  const life = Array.from({ length: 3 * CRASHES.inMemoryEvery }, (_, event) => `n${event} timer`)
  const events = Array.from({ length: 3 * CRASHES.pairsEvery }, (_, event) => event)
  const points = new Set<number>()
  const pairs = new Set<string>()
  for (const landing of LANDINGS) {
    const phases = drawPhases(landing)
    for (const point of pointsOf(life, phases)) points.add(point)
    for (const pair of pairsOf(events, phases)) pairs.add(pair.join(' and '))
  }
  assert.equal(points.size, life.length)
  assert.equal(pairs.size, (events.length * (events.length - 1)) / 2)
})

test('one commit always tries the same', () => {
  assert.deepEqual(drawPhases('abc'), drawPhases('abc'))
  assert.notDeepEqual(drawPhases('abc'), drawPhases('abd'))
})
