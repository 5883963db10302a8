// Two processes of one machine, one that accepts and one that owns, and what lies between them. That order and records
// hold with it is the simulator's to prove: half of its worlds have such channels.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HandedOff } from '../../core/delivery/queued-delivery.ts'
import { ReadWatches } from '../lanes/read-watches.ts'
import type { SiblingEnd } from '../seams/sibling-channel.ts'
import type { HandOffParts } from './hand-off.ts'
import { Siblings } from './siblings.ts'

const SHARD = 7
const POLL_MS = 1_000

function handedOff(changes: Partial<HandedOff> = {}): HandedOff {
  return {
    ...{ clientKey: 1, id: 'd1', eventId: 'e1', endpointId: 'w1', paymentId: 'p1' },
    ...{ sequence: 1, kind: 'payment.created', shard: SHARD, nextAttemptAtMs: 5_000 },
    ...{ attempts: 0, runAttempts: 0, firstAttemptAtMs: null, firstFailedAtMs: null },
    ...{ deadlineAtMs: 9_000, isReplay: false, documentMode: 'link', hasElders: false },
    payload: { text: '{"id":"p1"}', documentHash: null, documentBytes: null },
    ...changes,
  }
}

/** One process, with as little of an engine as a hand-over touches. */
function makeProcess(held: number[], clock: { nowMs(): number; monotonicMs(): number }) {
  const seen = {
    added: [] as HandedOff[],
    texts: [] as string[],
    read: [] as number[],
    announced: [] as number[],
    warnings: [] as string[],
    maySend: true,
    gainedAtMs: 0,
  }
  const watches = new ReadWatches()
  const parts = {
    lanes: {
      watches,
      add: (delivery: HandedOff) => {
        seen.added.push(delivery)
        return true
      },
    },
    shards: {
      held,
      holds: (shard: number) => held.includes(shard),
      maySend: (shard: number) => seen.maySend && held.includes(shard),
      hasHeldSince: (_: number, sinceMs: number) => seen.gainedAtMs < sinceMs,
    },
    reader: { isFull: false, rewindTo: (shard: number) => seen.read.push(shard) },
    payloads: { remember: (_: string, { text }: { text: string }) => seen.texts.push(text) },
    endpoints: { expect: () => {} },
  }
  const wakeUps = {
    announceWork: (shard: number) => void seen.announced.push(shard),
    announceEndpoint: () => {},
    announceLeases: () => {},
  }
  const log = { info: () => {}, warn: (_: object, text: string) => void seen.warnings.push(text) }
  const environment = { clock: { ...clock }, wakeUps, log }
  const taken = () => {}
  const siblings = new Siblings(environment, parts as unknown as HandOffParts, POLL_MS, taken)
  return { siblings, seen, watches }
}

function joined() {
  const time = { ms: 10 }
  const clock = { nowMs: () => time.ms, monotonicMs: () => time.ms }
  const accepting = makeProcess([], clock)
  const owner = makeProcess([SHARD], clock)
  const ends: { accepting?: SiblingEnd; owner?: SiblingEnd } = {}
  const way = { hasRoom: true, isClosed: false, messagesMax: Infinity }
  // What is said to one that is not yet joined is not heard, as with a socket that nobody reads.
  const channelTo = (side: keyof typeof ends) => ({
    send: (text: string) => {
      if (!way.hasRoom || (text.includes('"deliveries"') && way.messagesMax-- <= 0)) return false
      ends[side]?.receive(text)
      return true
    },
    close: () => {
      way.isClosed = true
    },
  })
  ends.accepting = accepting.siblings.join(channelTo('owner'))
  ends.owner = owner.siblings.join(channelTo('accepting'))
  const handOver = (delivery = handedOff(), { invitations } = accepting.siblings) =>
    accepting.siblings.handOver(invitations, [delivery])
  return { accepting, owner, ends, way, time, handOver }
}

test('what is accepted after an invitation goes to its owner, with its text', () => {
  const { accepting, owner, handOver } = joined()
  handOver()
  assert.deepEqual(owner.seen.added, [handedOff({ payload: null })])
  assert.deepEqual(owner.seen.texts, ['{"id":"p1"}'])
  assert.deepEqual([owner.seen.read, accepting.seen.announced], [[], []])
})

test('a body with a file is left to the owner to read', () => {
  const { owner, handOver } = joined()
  handOver(handedOff({ payload: { text: '{}', documentHash: Buffer.from('x'), documentBytes: 1 } }))
  assert.deepEqual([owner.seen.added.length, owner.seen.texts], [1, []])
})

test('a transaction that began before an invitation is none of its guests', () => {
  const { accepting, owner, handOver } = joined()
  accepting.siblings.handOver(new Map(), [handedOff()])
  assert.deepEqual([accepting.seen.announced, owner.seen.added], [[SHARD], []])
  // Begun under the first, although others have come since.
  const begun = { invitations: accepting.siblings.invitations }
  owner.siblings.invite()
  handOver(handedOff(), begun as Siblings)
  assert.equal(owner.seen.added.length, 1)
})

test('one that has been found and sent since the invitation is read, and not taken', () => {
  const { owner, handOver } = joined()
  owner.watches.note('d1')
  handOver()
  assert.deepEqual([owner.seen.added, owner.seen.read], [[], [SHARD]])
})

test('of a shard that was lost and gained since the invitation it is read', () => {
  const { owner, handOver } = joined()
  owner.seen.gainedAtMs = 10
  handOver()
  assert.deepEqual([owner.seen.added, owner.seen.read], [[], [SHARD]])
})

test('under an invitation that was long ago it is read: what moved since then is no longer known', () => {
  const { accepting, owner, handOver } = joined()
  const begun = { invitations: accepting.siblings.invitations }
  for (let poll = 0; poll < 3; poll++) owner.siblings.invite()
  handOver(handedOff(), begun as Siblings)
  assert.equal(owner.seen.added.length, 1)
  owner.siblings.invite()
  handOver(handedOff({ id: 'd2' }), begun as Siblings)
  assert.deepEqual([owner.seen.added.length, owner.seen.read], [1, [SHARD]])
})

test('what does not fit is announced, as to a process of another machine', () => {
  const { accepting, owner, way, handOver } = joined()
  way.hasRoom = false
  handOver()
  assert.deepEqual([accepting.seen.announced, owner.seen.added], [[SHARD], []])
})

test('long texts go in several messages, so that a channel can refuse the rest', () => {
  const { accepting, owner, way } = joined()
  const text = 'x'.repeat(100_000)
  const payload = { text, documentHash: null, documentBytes: null }
  const deliveries = Array.from({ length: 6 }, (_, n) =>
    handedOff({ id: `d${n}`, eventId: `e${n}`, payload }),
  )
  way.messagesMax = 2
  accepting.siblings.handOver(accepting.siblings.invitations, deliveries)
  assert.deepEqual(
    owner.seen.added.map(({ id }) => id),
    ['d0', 'd1', 'd2', 'd3'],
  )
  assert.deepEqual(accepting.seen.announced, [SHARD, SHARD])
})

test('a sibling that has invited nobody for a while is not followed', () => {
  const { accepting, owner, time, handOver } = joined()
  time.ms += 3 * POLL_MS
  handOver()
  assert.deepEqual([accepting.seen.announced, owner.seen.added], [[SHARD], []])
  owner.siblings.invite()
  handOver()
  assert.equal(owner.seen.added.length, 1)
})

test('when a channel ends, what it was given is announced: it may be on its way for ever', () => {
  const { accepting, ends, handOver } = joined()
  handOver()
  ends.accepting?.closed()
  assert.deepEqual(accepting.seen.announced, [SHARD])
  handOver()
  assert.deepEqual(accepting.seen.announced, [SHARD, SHARD])
})

test('what its owner may not send now is announced, because another may own it', () => {
  const { owner, handOver } = joined()
  owner.seen.maySend = false
  handOver()
  assert.deepEqual(owner.seen.announced, [SHARD])
  // And with the next invitation it is not asked for at all.
  owner.siblings.invite()
  handOver()
  assert.equal(owner.seen.announced.length, 1)
})

test('replays and what was tried before have a history: they go by way of the database', () => {
  const { accepting, owner, handOver } = joined()
  handOver(handedOff({ isReplay: true }))
  handOver(handedOff({ attempts: 1 }))
  assert.deepEqual([accepting.seen.announced, owner.seen.added], [[SHARD, SHARD], []])
})

test('one that speaks otherwise is not listened to, and one that cannot be read is left', () => {
  const { owner, ends, way } = joined()
  ends.owner?.receive('{"form":99,"ticket":1,"deliveries":[[]]}')
  assert.deepEqual([owner.seen.added, way.isClosed], [[], false])
  ends.owner?.receive('{')
  assert.deepEqual([owner.seen.warnings, way.isClosed], [['sibling.not-understood'], true])
})

test('one that stops closes its channels, and takes no new ones', () => {
  const { owner, ends, way, handOver } = joined()
  owner.siblings.close()
  assert.equal(way.isClosed, true)
  handOver()
  assert.deepEqual(owner.seen.added, [])
  let isClosed = false
  const close = () => {
    isClosed = true
  }
  ends.owner = owner.siblings.join({ send: () => true, close })
  assert.equal(isClosed, true)
})
