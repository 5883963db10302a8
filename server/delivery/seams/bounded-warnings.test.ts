import assert from 'node:assert/strict'
import test from 'node:test'
import { BoundedWarnings } from './bounded-warnings.ts'

function create() {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  const lines: [object, string][] = []
  const note = (fields: object, message: string) => lines.push([fields, message])
  return { clock, lines, log: new BoundedWarnings({ info: note, warn: note }, clock) }
}

test('one line of a kind every ten seconds, which tells of how many it speaks', () => {
  const { clock, lines, log } = create()
  for (let second = 0; second < 25; second++) {
    clock.ms = second * 1_000
    for (let id = 0; id < 100; id++) log.warn({ id, error: 'away' }, 'delivery.not-attempted')
  }
  assert.deepEqual(lines, [
    [{ id: 0, error: 'away' }, 'delivery.not-attempted'],
    [{ id: 0, error: 'away', count: 1_000 }, 'delivery.not-attempted'],
    [{ id: 0, error: 'away', count: 1_000 }, 'delivery.not-attempted'],
  ])
})

test('another message, another error and what is no failure are written at once', () => {
  const { lines, log } = create()
  log.warn({ error: 'away' }, 'a')
  log.warn({ error: 'away' }, 'b')
  log.warn({ error: 'no socket' }, 'a')
  for (let at = 0; at < 3; at++) log.warn({ at }, 'delivery.exhausted')
  log.info({ error: 'x' }, 'told')
  log.info({ error: 'x' }, 'told')
  assert.equal(lines.length, 8)
})

test('errors that never repeat are bounded as well', () => {
  const { lines, log } = create()
  for (let at = 0; at < 10_000; at++) log.warn({ error: `at ${at}` }, 'a')
  assert.ok(lines.length <= 50, `${lines.length} lines`)
})
