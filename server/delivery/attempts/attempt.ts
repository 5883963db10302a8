// One attempt as three values: prepared (bytes, headers, signatures), sent, concluded. Each is made from
// the one before, so a wrong order does not compile. What goes wrong on our own side (a key that does not
// open, a body that is gone) is an outcome like any other: it is retried on schedule and shows in the record.

import type { RetryPolicy } from '../../core/delivery/backoff.ts'
import type { AttemptResult, CallbackRequest } from '../../core/delivery/callback-request.ts'
import {
  decide,
  isSuccess,
  outcomeCode,
  type UnsendableReason,
} from '../../core/delivery/delivery.ts'
import type { DeliverMode } from '../../core/delivery/endpoint-settings.ts'
import type { QueuedDelivery } from '../../core/delivery/queued-delivery.ts'
import { supersedesElders } from '../../core/delivery/strand.ts'
import type { AsymmetricSignature } from '../../core/signatures/asymmetric-signature.ts'
import { callbackHeaders, traceparentOf } from '../../core/signatures/callback-headers.ts'
import type { AttemptRecord } from '../../store/owed/outcomes.ts'
import type { SendingEndpoint } from '../../store/owed/sending-endpoints.ts'

const EXCERPT_OF_200_BYTES_MAX = 256

/** Ready to be sent: at this time, under this lease. */
export interface PreparedAttempt {
  readonly delivery: QueuedDelivery
  readonly epoch: number
  readonly atMs: number
  /** Signed; or why there cannot be one. */
  readonly request: CallbackRequest | UnsendableReason
}

/** Sent, and answered in some way. */
export interface SentAttempt {
  readonly prepared: PreparedAttempt
  readonly result: AttemptResult
}

/** Decided: what is to be recorded, and the delivery as it is afterwards (null when it is final). */
export interface ConcludedAttempt {
  readonly record: AttemptRecord
  readonly after: QueuedDelivery | null
}

export function prepareAttempt(
  delivery: QueuedDelivery,
  endpoint: SendingEndpoint,
  body: readonly Uint8Array[] | null,
  at: { epoch: number; atMs: number; beginByMs: number },
  /** Made with the service's own keys, for an endpoint that asks for it. */
  ours: AsymmetricSignature | null = null,
): PreparedAttempt {
  const request = toRequest(delivery, endpoint, body, at, ours)
  return { delivery, epoch: at.epoch, atMs: at.atMs, request }
}

function toRequest(
  delivery: QueuedDelivery,
  endpoint: SendingEndpoint,
  body: readonly Uint8Array[] | null,
  { atMs, beginByMs }: { atMs: number; beginByMs: number },
  ours: AsymmetricSignature | null,
): CallbackRequest | UnsendableReason {
  if (endpoint.secrets === null) return 'undecryptable-key'
  if (body === null) return 'payload-missing'
  const { clientKey, id, eventId, endpointId, kind, sequence } = delivery
  const attempt = delivery.attempts + 1
  const headers = callbackHeaders(
    {
      eventId,
      kind,
      sequence,
      attempt,
      atMs,
      mark: delivery.isReplay ? 'replay' : null,
      traceparent: traceparentOf(eventId, id),
      extraHeader: endpoint.secrets.extraHeader,
      hmacHeaderName: endpoint.settings.hmacHeaderName,
    },
    endpoint.secrets.keys,
    body,
    ours,
  )
  return {
    url: endpoint.url,
    clientKey,
    eventId,
    kind,
    attempt,
    headers,
    body,
    tls: endpoint.settings.tls,
    oauth2: endpoint.secrets.oauth2,
    endpointId,
    deliveryId: id,
    retriedAtMs: endpoint.retriedAtMs,
    beginByMs,
  }
}

export function concludeAttempt(
  { prepared, result }: SentAttempt,
  policy: RetryPolicy,
  context: { endedAtMs: number; random: () => number; elders: 'none' | DeliverMode },
): ConcludedAttempt {
  const { delivery, epoch, atMs } = prepared
  const { outcome, durationMs } = result
  const runAttempts = delivery.runAttempts + 1
  // A run that has begun on disk, to go ahead of an older update, counts from the first attempt that is recorded.
  const begun = delivery.runAttempts > 0 ? delivery : null
  const firstAttemptAtMs = begun?.firstAttemptAtMs ?? atMs
  const deadlineAtMs = begun?.deadlineAtMs ?? firstAttemptAtMs + policy.runMs
  const decision = decide(
    { attemptsInRun: runAttempts, deadlineAtMs },
    outcome,
    policy,
    context.endedAtMs,
    context.random,
  )
  const hasFailed = !isSuccess(outcome)
  const firstFailedAtMs = delivery.firstFailedAtMs ?? (hasFailed ? atMs : null)
  const answered = outcome.kind === 'answered' ? outcome : null
  const record: AttemptRecord = {
    clientKey: delivery.clientKey,
    id: delivery.id,
    shard: delivery.shard,
    epoch,
    endpointId: delivery.endpointId,
    paymentId: delivery.paymentId,
    sequence: delivery.sequence,
    attempt: delivery.attempts + 1,
    runAttempt: runAttempts,
    atMs,
    durationMs,
    outcome: outcomeCode(outcome),
    status: answered?.status ?? null,
    excerpt:
      outcome.kind === 'tokenless'
        ? Buffer.from(outcome.detail)
        : excerptOf(answered?.excerpt, hasFailed),
    state: decision.state,
    nextAttemptAtMs: decision.state === 'PENDING' ? decision.nextAttemptAtMs : null,
    firstAttemptAtMs,
    firstFailedAtMs,
    deadlineAtMs,
    supersedes:
      context.elders !== 'none' &&
      !delivery.isReplay &&
      supersedesElders(decision.state === 'DELIVERED', context.elders),
  }
  if (decision.state !== 'PENDING') return { record, after: null }
  const after = {
    ...delivery,
    attempts: record.attempt,
    runAttempts,
    firstAttemptAtMs,
    firstFailedAtMs,
    deadlineAtMs,
    nextAttemptAtMs: decision.nextAttemptAtMs,
  }
  return { record, after }
}

/** Of a 200 less is kept: there are many, and few say anything. An empty body is nothing to keep. */
function excerptOf(body: Uint8Array | undefined, hasFailed: boolean): Uint8Array | null {
  if (body === undefined || body.byteLength === 0) return null
  return hasFailed ? body : body.subarray(0, EXCERPT_OF_200_BYTES_MAX)
}
