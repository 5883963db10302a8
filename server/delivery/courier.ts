// Takes one strand's turn from beginning to end: reads what is needed, sends, records, settles. The
// strand moves on only when the outcome is on disk; its place is free as soon as the answer is in.

import type { RetryPolicy } from '../core/backoff.ts'
import { isSuccess } from '../core/delivery.ts'
import type { QueuedDelivery } from '../core/queued-delivery.ts'
import type { SendingEndpoint } from '../store/sending-endpoints.ts'
import { concludeAttempt, makeAttempt } from './attempt.ts'
import type { DueReader } from './due-reader.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import type { EngineEnvironment } from './environment.ts'
import type { HealthCounter } from './health-counter.ts'
import type { Lanes, Strand } from './lanes.ts'
import type { Body, Payloads } from './payloads.ts'
import type { Recorder } from './recorder.ts'
import type { Shards } from './shards.ts'

/** What the courier works with; the engine owns all of it. */
export interface CourierParts {
  lanes: Lanes
  shards: Shards
  recorder: Recorder
  reader: DueReader
  payloads: Payloads
  endpoints: EndpointCache
  health: HealthCounter
  /** A place has become free. */
  onFree(): void
}

export class Courier {
  readonly #environment: EngineEnvironment
  readonly #parts: CourierParts
  readonly #retry: RetryPolicy
  readonly #pauseMs: number

  /** `pauseMs`: how long to wait when our own database could not be read. */
  constructor(
    environment: EngineEnvironment,
    parts: CourierParts,
    retry: RetryPolicy,
    pauseMs: number,
  ) {
    this.#environment = environment
    this.#parts = parts
    this.#retry = retry
    this.#pauseMs = pauseMs
  }

  /** Never rejects. */
  async attempt(strand: Strand): Promise<void> {
    const delivery = strand.inFlight as QueuedDelivery
    const { clock, log } = this.#environment
    const { lanes, shards, endpoints, payloads } = this.#parts
    const epoch = shards.epochOf(delivery.shard)
    try {
      // Waits only for what has to be read: a turn of the loop each would cost more than the look-up.
      const known = endpoints.get(delivery.clientKey, delivery.endpointId)
      const endpoint = known instanceof Promise ? await known : known
      if (epoch === undefined || endpoint === null || !endpoint.isActive) {
        await this.#settleInactive(strand)
        return
      }
      if (delivery.deadlineAtMs !== null && delivery.deadlineAtMs <= clock.nowMs()) {
        await this.#exhaust(strand, delivery)
        return
      }
      const kept = payloads.bodyOf(delivery.clientKey, delivery.eventId)
      const body = kept instanceof Promise ? await kept : kept
      try {
        // Reading took time: ask again, just before the first byte, whether the shard is still ours.
        if (strand.isGone || !shards.maySend(delivery.shard)) {
          lanes.callOff(strand, delivery, clock.nowMs())
          return
        }
        await this.#send(strand, delivery, epoch, endpoint, body)
      } finally {
        body?.release()
      }
    } catch (error) {
      // Our own reads failed: nothing was sent, and the database will be asked again.
      log.warn({ deliveryId: delivery.id, error: String(error) }, 'delivery.not-attempted')
      const later = { ...delivery, nextAttemptAtMs: clock.nowMs() + this.#pauseMs }
      lanes.callOff(strand, later, clock.nowMs())
    }
  }

  async #send(
    strand: Strand,
    delivery: QueuedDelivery,
    epoch: number,
    endpoint: SendingEndpoint,
    body: Body | null,
  ): Promise<void> {
    const { clock } = this.#environment
    const { lanes, recorder, health, onFree } = this.#parts
    const made = await makeAttempt(this.#environment, delivery, endpoint, body?.parts ?? null)
    body?.release()
    lanes.answered(
      strand,
      {
        isSuccess: isSuccess(made.outcome),
        durationMs: made.durationMs,
        bodyBytes: body?.bytes ?? 0,
      },
      clock.nowMs(),
    )
    onFree()
    const { record, after } = concludeAttempt(delivery, made, this.#retry, {
      epoch,
      endedAtMs: clock.nowMs(),
      random: this.#environment.random,
      hasElders: strand.owed.some((owed) => owed.sequence < delivery.sequence),
    })
    health.count(delivery, made.outcome, made.durationMs, made.atMs)
    const isRecorded = await recorder.record(record)
    if (isSuccess(made.outcome) && record.supersedes) lanes.dropElders(strand, delivery.sequence)
    if (isRecorded) lanes.settle(strand, after, clock.nowMs())
    else lanes.settleUnknown(strand, clock.nowMs())
    this.#environment.onAttempt({
      deliveryId: delivery.id,
      eventId: delivery.eventId,
      endpointId: delivery.endpointId,
      paymentId: delivery.paymentId,
      kind: delivery.kind,
      sequence: delivery.sequence,
      isReplay: delivery.isReplay,
      shard: delivery.shard,
      epoch,
      attempt: record.attempt,
      atMs: made.atMs,
      durationMs: made.durationMs,
      outcome: made.outcome,
      state: record.state,
      nextAttemptAtMs: record.nextAttemptAtMs,
    })
  }

  /** The endpoint is paused, disabled or deleted: everything of it leaves memory and the due index. */
  async #settleInactive(strand: Strand): Promise<void> {
    const { clock, store } = this.#environment
    const { lanes, shards, reader } = this.#parts
    const owed = lanes.abandon(strand)
    try {
      await store.settleInactive(shards.toHeld(owed), clock.nowMs())
    } finally {
      // Active again by now, or not written: they are still due, and the next round reads them.
      for (const { shard, nextAttemptAtMs } of owed) reader.rewindTo(shard, nextAttemptAtMs)
    }
  }

  /** No attempt starts after the 7 days, not even when the service slept through their end. */
  async #exhaust(strand: Strand, delivery: QueuedDelivery): Promise<void> {
    const { clock, store, log } = this.#environment
    await store.exhaust(this.#parts.shards.toHeld([delivery]), clock.nowMs())
    this.#parts.lanes.callOff(strand, null, clock.nowMs())
    log.warn({ deliveryId: delivery.id, endpointId: delivery.endpointId }, 'delivery.exhausted')
  }
}
