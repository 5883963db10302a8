// What a broker answers about its topics while some partitions have no leader, made by hand.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Base, kGetApi, ResponseError } from '@platformatic/kafka'
import { acceptLeaderless, rotated } from './kafka-clients.ts'

const METADATA = 3
const LEADER_NOT_AVAILABLE = 5
const UNKNOWN_TOPIC = 3
const RESPONSE = { topics: ['one', 'two'] }

/** What comes of an answer with these errors, each at its place in it. */
function ask(
  name: string,
  errors: Record<string, number>,
): { error: Error | null; response: unknown } {
  const own = Object.entries(errors).map(([path, code]) => [path, [code, null]])
  const refused = new ResponseError(METADATA, 12, Object.fromEntries(own), RESPONSE)
  const api = Object.assign(
    (...args: unknown[]) => {
      const answer = args.pop() as (error: Error | null, response?: unknown) => void
      assert.deepEqual(args, ['connection', 'topics'])
      return own.length > 0 ? answer(refused) : answer(null, RESPONSE)
    },
    { version: 12 },
  )
  const client = {
    [kGetApi]: (_: string, callback: (error: null, api: unknown) => void) => callback(null, api),
  }
  const came: { error: Error | null; response: unknown }[] = []
  acceptLeaderless(client as unknown as Base)[kGetApi](name, (_, found) => {
    assert.equal(found?.version, 12)
    const answer = (error: Error | null, response?: unknown) => void came.push({ error, response })
    found?.('connection' as never, 'topics', answer)
  })
  const [only, ...others] = came
  assert.ok(only !== undefined && others.length === 0)
  return only
}

test('a partition without a leader does not make the answer a failure', () => {
  const whole = { error: null, response: RESPONSE }
  assert.deepEqual(ask('Metadata', {}), whole)
  const one = { '/topics/0/partitions/2': LEADER_NOT_AVAILABLE }
  assert.deepEqual(ask('Metadata', one), whole)
  assert.deepEqual(
    ask('Metadata', { ...one, '/topics/1/partitions/0': LEADER_NOT_AVAILABLE }),
    whole,
  )
})

test('a topic that is not there does, and so does any other answer', () => {
  const one = { '/topics/0/partitions/2': LEADER_NOT_AVAILABLE }
  assert.ok(ask('Metadata', { ...one, '/topics/1': UNKNOWN_TOPIC }).error instanceof ResponseError)
  assert.ok(ask('Fetch', one).error instanceof ResponseError)
})

test('each client after another begins at another broker', () => {
  const settings = { brokers: ['a', 'b', 'c'], topic: 't', group: 'g', tls: null, sasl: null }
  const orders = [0, 1, 2, 3].map((turns) => rotated(settings, turns).brokers.join(''))
  assert.deepEqual(orders, ['abc', 'bca', 'cab', 'abc'])
  assert.equal(rotated({ ...settings, brokers: ['a'] }, 7).brokers.join(), 'a')
})
