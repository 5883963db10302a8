import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { queued } from '../../../test/support/engine-parts.ts'
import { retryPolicy } from '../../core/delivery/backoff.ts'
import type { CallbackRequest } from '../../core/delivery/callback-request.ts'
import type { Outcome } from '../../core/delivery/delivery.ts'
import { DEFAULT_SETTINGS } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'
import { concludeAttempt, prepareAttempt } from './attempt.ts'

const POLICY = retryPolicy()
const BODY = [Buffer.from('{"id":"1"}')]
const OK: Outcome = { kind: 'answered', status: 200 }
const AT = { epoch: 5, atMs: Date.UTC(2026, 0, 1), beginByMs: 700 }
const KEY = createSecretKey(Buffer.from('key'))

function endpoint(changes: Partial<SendingEndpoint> = {}): SendingEndpoint {
  return {
    clientKey: 7,
    id: queued().endpointId,
    shard: 1,
    url: 'https://receiver.test/hook',
    isActive: true,
    retriedAtMs: 0,
    settings: DEFAULT_SETTINGS,
    secrets: {
      keys: { current: KEY, previous: null },
      extraHeader: ['Authorization', 'Basic x'],
      oauth2: null,
    },
    ...changes,
  }
}

function requestOf(delivery: QueuedDelivery): CallbackRequest {
  const { request } = prepareAttempt(delivery, endpoint(), BODY, AT)
  assert.ok(typeof request === 'object')
  return request
}

function headersOf({ headers: flat }: CallbackRequest): Map<string, string> {
  return new Map(
    flat.flatMap((name, at) => (at % 2 ? [] : [[name.toLowerCase(), flat[at + 1] ?? '']])),
  )
}

test('the request carries the event, its number, and a trace that joins its attempts', () => {
  const delivery = queued({ clientKey: 7, sequence: 3, attempts: 4, kind: 'payment.paid' })
  const request = requestOf(delivery)
  const headers = headersOf(request)
  assert.equal(request.clientKey, 7)
  assert.deepEqual(
    [request.eventId, request.kind, request.attempt],
    [delivery.eventId, 'payment.paid', 5],
  )
  assert.equal(request.url, 'https://receiver.test/hook')
  assert.deepEqual(request.body, BODY)
  assert.deepEqual([request.endpointId, request.deliveryId], [delivery.endpointId, delivery.id])
  assert.equal(headers.get('webhook-timestamp'), '1767225600')
  assert.equal(headers.get('webhook-id'), delivery.eventId)
  assert.equal(headers.get('x-paybell-event'), 'payment.paid')
  assert.equal(headers.get('x-paybell-sequence'), '3')
  assert.equal(headers.get('x-paybell-attempt'), '5')
  assert.equal(headers.get('authorization'), 'Basic x')
  assert.equal(headers.get('x-paybell-replay'), undefined)
  assert.match(headers.get('traceparent') ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.ok(headers.get('traceparent')?.includes(delivery.eventId.replaceAll('-', '')))
})

test('a replay says so', () => {
  const request = requestOf(queued({ isReplay: true }))
  assert.equal(headersOf(request).get('x-paybell-replay'), 'true')
})

test('F17: a key that does not open and a body that is gone make no request', () => {
  const locked = endpoint({ secrets: null })
  assert.equal(prepareAttempt(queued(), locked, BODY, AT).request, 'undecryptable-key')
  assert.equal(prepareAttempt(queued(), endpoint(), null, AT).request, 'payload-missing')
})

function conclude(
  outcome: Outcome,
  delivery = queued(),
  elders: 'none' | 'every' | 'latest' = 'none',
) {
  const prepared = prepareAttempt(delivery, endpoint(), BODY, { ...AT, atMs: 1_000 })
  const sent = { prepared, result: { outcome, durationMs: 12 } }
  return concludeAttempt(sent, POLICY, {
    endedAtMs: 1_012,
    random: () => 0.5,
    elders,
  })
}

test('regression: of the body of a 200 the first 256 bytes are kept, of an empty one nothing', () => {
  const kept = (body: string) => conclude({ ...OK, excerpt: Buffer.from(body) }).record.excerpt
  assert.deepEqual(kept('thanks'), Buffer.from('thanks'))
  assert.deepEqual(kept('x'.repeat(4_096)), Buffer.from('x'.repeat(256)))
  assert.equal(kept(''), null)
  const failed = { kind: 'answered', status: 204, excerpt: Buffer.from('x'.repeat(4_096)) } as const
  assert.equal(conclude(failed).record.excerpt?.byteLength, 4_096)
})

test('a 200 ends it', () => {
  const { record, after } = conclude(OK)
  assert.equal(after, null)
  assert.equal(record.state, 'DELIVERED')
  assert.equal(record.status, 200)
  assert.equal(record.excerpt, null)
  assert.equal(record.nextAttemptAtMs, null)
  assert.equal(record.firstFailedAtMs, null)
  assert.equal(record.epoch, 5)
})

test('a first failure begins the 7 days and the patience, both at the start of the attempt', () => {
  const { record, after } = conclude({ kind: 'answered', status: 500, excerpt: Buffer.from('no') })
  assert.equal(record.state, 'PENDING')
  assert.equal(record.attempt, 1)
  assert.equal(record.firstAttemptAtMs, 1_000)
  assert.equal(record.firstFailedAtMs, 1_000)
  assert.equal(record.deadlineAtMs, 1_000 + POLICY.runMs)
  assert.equal(record.nextAttemptAtMs, 1_012 + 5_000)
  assert.deepEqual(record.excerpt, Buffer.from('no'))
  assert.equal(after?.nextAttemptAtMs, record.nextAttemptAtMs)
  assert.equal(after?.attempts, 1)
  assert.equal(after?.runAttempts, 1)
})

test('later failures move neither beginning, and a replay counts its run apart', () => {
  const delivery = queued({
    attempts: 40,
    runAttempts: 2,
    firstAttemptAtMs: 10,
    firstFailedAtMs: 20,
    deadlineAtMs: 10 + POLICY.runMs,
    isReplay: true,
  })
  const { record, after } = conclude({ kind: 'unreachable', reason: 'timeout' }, delivery)
  assert.equal(record.attempt, 41)
  assert.equal(record.runAttempt, 3)
  assert.equal(record.firstAttemptAtMs, 10)
  assert.equal(record.firstFailedAtMs, 20)
  assert.equal(record.outcome, 'timeout')
  assert.equal(record.status, null)
  assert.equal(after?.nextAttemptAtMs, 1_012 + 20_000)
})

test('a failure at the end of the 7 days exhausts it', () => {
  const delivery = queued({ attempts: 40, runAttempts: 40, firstAttemptAtMs: 0, deadlineAtMs: 900 })
  const { record, after } = conclude({ kind: 'answered', status: 500 }, delivery)
  assert.equal(record.state, 'EXHAUSTED')
  assert.equal(record.nextAttemptAtMs, null)
  assert.equal(after, null)
})

test('only an accepted update that is no replay supersedes its elders', () => {
  assert.equal(conclude(OK, queued({ sequence: 2 }), 'every').record.supersedes, true)
  assert.equal(conclude(OK, queued({ sequence: 2 })).record.supersedes, false)
  assert.equal(conclude(OK, queued({ isReplay: true }), 'every').record.supersedes, false)
  const failed = conclude({ kind: 'answered', status: 204 }, queued({ sequence: 2 }), 'every')
  assert.equal(failed.record.supersedes, false)
  const latest = conclude({ kind: 'answered', status: 204 }, queued({ sequence: 2 }), 'latest')
  assert.equal(latest.record.supersedes, true)
})
