// Takes one strand's turn from beginning to end: reads what is needed, sends, records, settles. The
// strand moves on only when the outcome is on disk; its place is free as soon as the answer is in.
// Nearly always everything is at hand, and an attemptRun waits twice: for the answer and for the disk. So it
// is an object that is called back, not a row of async functions, whose frames and promises cost more
// than what they do.

import type { RetryPolicy } from '../core/backoff.ts'
import type { AttemptResult } from '../core/callback-request.ts'
import { isSuccess, type Outcome } from '../core/delivery.ts'
import type { QueuedDelivery } from '../core/queued-delivery.ts'
import type { AttemptRecord } from '../store/outcomes.ts'
import type { SendingEndpoint } from '../store/sending-endpoints.ts'
import { concludeAttempt, type MadeAttempt, toRequest } from './attempt.ts'
import type { DueReader } from './due-reader.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import type { EngineEnvironment } from './environment.ts'
import type { HealthCounter } from './health-counter.ts'
import type { Flight } from './lane.ts'
import type { Lanes } from './lanes.ts'
import type { Body, Payloads } from './payloads.ts'
import type { Recorder, Recording } from './recorder.ts'
import type { Shards } from './shards.ts'

/** What the sender works with; the engine owns all of it. */
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
  /** An attempt is over: recorded and settled, or given back. */
  onOver(): void
}

export class Sender {
  readonly #work: ErrandWork

  /** `pauseMs`: how long to wait when our own database could not be read. */
  constructor(
    environment: EngineEnvironment,
    parts: CourierParts,
    policies: { readonly current: { readonly retry: RetryPolicy } },
    pauseMs: number,
  ) {
    this.#work = { environment, parts, policies, pauseMs }
  }

  /** Never throws; `onOver` is told when it is over. */
  attempt(flight: Flight): void {
    new AttemptRun(this.#work, flight).begin()
  }
}

/** What all errands work with. */
interface ErrandWork {
  environment: EngineEnvironment
  parts: CourierParts
  policies: { readonly current: { readonly retry: RetryPolicy } }
  pauseMs: number
}

class AttemptRun implements Recording {
  readonly #work: ErrandWork
  readonly #flight: Flight
  readonly #delivery: QueuedDelivery
  readonly #epoch: number | undefined
  #body: Body | null = null
  #atMs = 0
  #outcome: Outcome | null = null
  #record: AttemptRecord | null = null
  #after: QueuedDelivery | null = null

  constructor(work: ErrandWork, flight: Flight) {
    const delivery = flight.update
    this.#work = work
    this.#flight = flight
    this.#delivery = delivery
    this.#epoch = work.parts.shards.epochOf(delivery.shard)
  }

  get record(): AttemptRecord {
    return this.#record as AttemptRecord
  }

  begin(): void {
    const { endpoints } = this.#work.parts
    try {
      // Waits only for what has to be read: a turn of the loop each would cost more than the look-up.
      const known = endpoints.get(this.#delivery.clientKey, this.#delivery.endpointId)
      if (known instanceof Promise) this.#await(known, (endpoint) => this.#goOn(endpoint, true))
      else this.#goOn(known, false)
    } catch (error) {
      this.#notAttempted(error)
    }
  }

  #goOn(endpoint: SendingEndpoint | null, hasWaited: boolean): void {
    const { clock } = this.#work.environment
    const { payloads } = this.#work.parts
    const { clientKey, eventId, deadlineAtMs } = this.#delivery
    if (this.#epoch === undefined || endpoint === null || !endpoint.isActive) {
      this.#await(this.#settleInactive(), () => this.#end())
    } else if (
      this.#flight.purpose === 'end' ||
      (deadlineAtMs !== null && deadlineAtMs <= clock.nowMs())
    ) {
      this.#await(this.#exhaust(), () => this.#end())
    } else {
      const body = payloads.bodyOf(clientKey, eventId)
      if (body instanceof Promise) this.#await(body, (read) => this.#send(endpoint, read, true))
      else this.#send(endpoint, body, hasWaited)
    }
  }

  #send(endpoint: SendingEndpoint, body: Body | null, hasWaited: boolean): void {
    const { environment, parts } = this.#work
    this.#body = body
    // Reading took time: ask again, just before the first byte, whether the shard is still ours.
    if (hasWaited && (this.#flight.strand.isGone || !parts.shards.maySend(this.#delivery.shard))) {
      parts.lanes.callOff(this.#flight, this.#delivery, environment.clock.nowMs())
      this.#end()
      return
    }
    this.#atMs = environment.clock.nowMs()
    const request = toRequest(this.#delivery, endpoint, body?.parts ?? null, this.#atMs)
    const sent =
      typeof request === 'string'
        ? // Not at once: its place becomes free, and whoever hands out places is waiting for us.
          Promise.resolve({
            outcome: { kind: 'unsendable', reason: request } as const,
            durationMs: 0,
          })
        : environment.send(request)
    sent.then(
      (result) => this.#answered(result),
      (error) => this.#notAttempted(error),
    )
  }

  #answered(result: AttemptResult): void {
    try {
      this.#conclude(result)
    } catch (error) {
      this.#notAttempted(error)
    }
  }

  #conclude({ outcome, durationMs }: AttemptResult): void {
    const { environment, parts, policies } = this.#work
    const { strand } = this.#flight
    const delivery = this.#delivery
    const nowMs = environment.clock.nowMs()
    this.#body?.release()
    const verdict = {
      isSuccess: isSuccess(outcome),
      durationMs,
      bodyBytes: this.#body?.bytes ?? 0,
    }
    parts.lanes.answered(this.#flight, verdict, nowMs)
    parts.onFree()
    const made: MadeAttempt = { atMs: this.#atMs, durationMs, outcome }
    const { record, after } = concludeAttempt(delivery, made, policies.current.retry, {
      epoch: this.#epoch as number,
      endedAtMs: nowMs,
      random: environment.random,
      hasElders:
        strand.owed.length > 1 && strand.owed.some((owed) => owed.sequence < delivery.sequence),
    })
    this.#outcome = outcome
    this.#record = record
    this.#after = after
    parts.health.count(delivery, outcome, durationMs, made.atMs)
    parts.recorder.record(this)
  }

  onRecorded(isRecorded: boolean): void {
    const { environment, parts } = this.#work
    const { clock } = environment
    const flight = this.#flight
    const delivery = this.#delivery
    const { record } = this
    const outcome = this.#outcome as Outcome
    try {
      if (isSuccess(outcome) && record.supersedes) {
        parts.lanes.dropElders(flight)
      }
      if (isRecorded) parts.lanes.settle(flight, this.#after, clock.nowMs())
      else parts.lanes.settleUnknown(flight, clock.nowMs())
      environment.onAttempt({
        deliveryId: delivery.id,
        eventId: delivery.eventId,
        endpointId: delivery.endpointId,
        paymentId: delivery.paymentId,
        kind: delivery.kind,
        sequence: delivery.sequence,
        isReplay: delivery.isReplay,
        shard: delivery.shard,
        epoch: record.epoch,
        attempt: record.attempt,
        atMs: record.atMs,
        durationMs: record.durationMs,
        outcome,
        state: record.state,
        nextAttemptAtMs: record.nextAttemptAtMs,
      })
      this.#end()
    } catch (error) {
      this.#notAttempted(error)
    }
  }

  /** The endpoint is paused, disabled or deleted: everything of it leaves memory and the due index. */
  async #settleInactive(): Promise<void> {
    const { clock, store } = this.#work.environment
    const { lanes, shards, reader } = this.#work.parts
    const owed = lanes.abandon(this.#flight)
    try {
      await store.settleInactive(shards.toHeld(owed), clock.nowMs())
    } finally {
      // Active again by now, or not written: they are still due, and the next round reads them.
      for (const { shard, nextAttemptAtMs } of owed) reader.rewindTo(shard, nextAttemptAtMs)
    }
  }

  /** No attempt starts after the 7 days, not even when the service slept through their end. */
  async #exhaust(): Promise<void> {
    const { clock, store, log } = this.#work.environment
    const { lanes, shards } = this.#work.parts
    const { id, endpointId } = this.#delivery
    await store.exhaust(shards.toHeld([this.#delivery]), clock.nowMs())
    lanes.callOff(this.#flight, null, clock.nowMs())
    log.warn({ deliveryId: id, endpointId }, 'delivery.exhausted')
  }

  #await<T>(promise: Promise<T>, goOn: (value: T) => void): void {
    promise.then(
      (value) => {
        try {
          goOn(value)
        } catch (error) {
          this.#notAttempted(error)
        }
      },
      (error) => this.#notAttempted(error),
    )
  }

  /** Our own reads failed, or we had no socket: nothing was sent, and it is tried again after a pause. */
  #notAttempted(error: unknown): void {
    const { environment, parts, pauseMs } = this.#work
    const { clock, log } = environment
    const delivery = this.#delivery
    log.warn({ deliveryId: delivery.id, error: String(error) }, 'delivery.not-attempted')
    environment.onNotAttempted?.()
    const later = { ...delivery, nextAttemptAtMs: clock.nowMs() + pauseMs }
    parts.lanes.callOff(this.#flight, later, clock.nowMs())
    this.#end()
  }

  #end(): void {
    this.#body?.release()
    this.#work.parts.onOver()
  }
}
