// Whether an endpoint was active: what its owner knows, and what the database holds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EndpointStatus } from '../../server/core/delivery/endpoint.ts'
import type { EndpointAct } from '../simulator/records.ts'
import { inactiveSpans } from '../simulator/run-index.ts'
import { asStored, type StatusChange, unheeded } from './switches.ts'

const ID = 'endpoint'

function call(kind: EndpointAct['kind'], askedAtMs: number, answeredAtMs: number): EndpointAct {
  const appliedAtMs = answeredAtMs
  return {
    kind,
    askedAtMs,
    appliedAtMs,
    acknowledgedAtMs: answeredAtMs,
    node: 'any',
    keyName: null,
  }
}

function change(status: EndpointStatus, atMs: number): StatusChange {
  return { endpointId: ID, status, atMs, writtenMs: atMs - 1 }
}

function spansOf(acts: EndpointAct[], changes: readonly StatusChange[]) {
  const stored = asStored(ID, acts, changes)
  const spans = inactiveSpans({ id: ID, accountId: null, events: null, acts: stored })
  return spans.map(({ fromMs, untilMs }) => [fromMs, untilMs])
}

const PAUSED = call('pause', 1_000, 1_100)
const RESUMED = call('resume', 2_000, 2_100)

test('it is inactive from when the database says so until it says otherwise', () => {
  const changes = [change('PAUSED', 1_050), change('ACTIVE', 2_050)]
  assert.deepEqual(spansOf([PAUSED, RESUMED], changes), [[1_050, 2_050]])
  const [pause] = asStored(ID, [PAUSED, RESUMED], changes)
  assert.deepEqual(pause, { ...PAUSED, appliedAtMs: 1_050, writtenMs: 1_049 })
})

test('what is noted a little before it was asked for, by a coarse clock, is what was asked for', () => {
  const [pause] = asStored(ID, [PAUSED], [change('PAUSED', 990)])
  assert.equal(pause?.askedAtMs, 990)
  assert.equal(pause?.acknowledgedAtMs, 1_100)
})

test('regression: a repeated call that is carried out after the next one pauses again, and nobody was told', () => {
  const changes = [change('PAUSED', 1_050), change('ACTIVE', 2_050), change('PAUSED', 2_500)]
  const acts = [PAUSED, RESUMED]
  assert.deepEqual(spansOf(acts, changes), [
    [1_050, 2_050],
    [2_500, Number.POSITIVE_INFINITY],
  ])
  assert.equal(asStored(ID, acts, changes).at(-1)?.acknowledgedAtMs, null)
  // Until its owner wants it paused anyhow, and later resumes it.
  const again = [call('pause', 9_000, 9_100), call('resume', 9_500, 9_600)]
  const all = [...changes, change('ACTIVE', 9_550)]
  assert.deepEqual(spansOf([...acts, ...again], all).at(-1), [2_500, 9_550])
  assert.equal(asStored(ID, [...acts, ...again], all).at(-2)?.acknowledgedAtMs, 9_100)
  assert.deepEqual(unheededOf([...acts, ...again], all), [])
})

test('regression: what the service disabled is inactive until its owner resumes it', () => {
  const resumed = call('resume', 7_000, 7_100)
  const changes = [change('DISABLED', 5_000), change('ACTIVE', 7_050)]
  assert.deepEqual(spansOf([resumed], changes), [[5_000, 7_050]])
  assert.equal(asStored(ID, [resumed], changes)[0]?.acknowledgedAtMs, null)
})

test('all other acts stay as they are, each in its turn', () => {
  const rotated = { ...call('rotate', 1_500, 1_600), keyName: 'second' }
  const changes = [change('PAUSED', 1_050), change('ACTIVE', 2_050)]
  const acts = asStored(ID, [PAUSED, rotated, RESUMED], changes)
  assert.deepEqual(
    acts.map(({ kind }) => kind),
    ['pause', 'rotate', 'resume'],
  )
  assert.deepEqual(acts[1], rotated)
})

function unheededOf(acts: EndpointAct[], changes: readonly StatusChange[]): string[] {
  const known = { path: '/steady/1', id: ID, acts, keys: 1, isPaused: false, isDeleted: false }
  return unheeded([known], changes).map(({ invariant, detail }) => `${invariant} ${detail}`)
}

test('I13: what was acknowledged has to have held before its answer', () => {
  const never = ['I13 a pause was acknowledged, and never held']
  assert.deepEqual(unheededOf([PAUSED], [change('PAUSED', 1_050)]), [])
  assert.deepEqual(unheededOf([PAUSED], [change('PAUSED', 1_050), change('ACTIVE', 1_060)]), [])
  assert.deepEqual(unheededOf([PAUSED], [change('PAUSED', 500)]), [], 'it was paused already')
  assert.deepEqual(unheededOf([PAUSED], []), never)
  assert.deepEqual(unheededOf([PAUSED], [change('PAUSED', 1_101)]), never)
  assert.deepEqual(unheededOf([PAUSED], [change('PAUSED', 500), change('ACTIVE', 900)]), never)
  assert.deepEqual(unheededOf([RESUMED], []), [], 'it was active from the beginning')
})
