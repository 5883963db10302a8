// What the parts of the delivery engine need to be tested alone: deliveries that exist nowhere, a store
// that answers only what a test has put in, and timers that a test fires.

import { createSecretKey } from 'node:crypto'
import { retryPolicy } from '../../server/core/delivery/backoff.ts'
import { circuitPolicy } from '../../server/core/delivery/circuit.ts'
import { DEFAULT_SETTINGS } from '../../server/core/delivery/endpoint-settings.ts'
import { LEASE_POLICY } from '../../server/core/delivery/lease.ts'
import type { QueuedDelivery } from '../../server/core/delivery/queued-delivery.ts'
import type { EngineOptions } from '../../server/delivery/engine.ts'
import { CHANGE_WATCH_LIMITS } from '../../server/delivery/owing/change-watch.ts'
import { DUE_READER_LIMITS } from '../../server/delivery/owing/due-reader.ts'
import type { DeliveryStore, EndpointKey } from '../../server/delivery/seams/delivery-store.ts'
import type { EngineEnvironment } from '../../server/delivery/seams/environment.ts'
import type { SendingEndpoint } from '../../server/store/owed/sending-endpoints.ts'
import { HandClock } from './injected-server.ts'

/** Numbers as UUIDs, in the same order. */
export function idOf(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
}

let made = 0

/** The first update of a payment of its own, due since ever, unless a test says otherwise. */
export function queued(changes: Partial<QueuedDelivery> = {}): QueuedDelivery {
  const number = ++made
  return {
    clientKey: 1,
    id: idOf(number),
    eventId: idOf(1_000_000 + number),
    endpointId: idOf(2_000_000),
    paymentId: idOf(3_000_000 + number),
    sequence: 1,
    kind: 'payment.created',
    shard: 1,
    nextAttemptAtMs: 0,
    attempts: 0,
    runAttempts: 0,
    firstAttemptAtMs: null,
    firstFailedAtMs: null,
    deadlineAtMs: null,
    isReplay: false,
    documentMode: null,
    ...changes,
  }
}

/** Timers that a test fires by hand. */
export class HandTimers {
  #waiting = new Set<{ ms: number; task: () => void }>()

  /** How long those that are set were to wait. */
  get waitingMs(): readonly number[] {
    return [...this.#waiting].map(({ ms }) => ms)
  }

  set(ms: number, task: () => void): () => void {
    const timer = { ms, task }
    this.#waiting.add(timer)
    return () => this.#waiting.delete(timer)
  }

  /** All of them, or those that were to wait for so long. */
  ring(waitingMs?: number): void {
    const due = [...this.#waiting].filter(({ ms }) => waitingMs === undefined || ms === waitingMs)
    for (const timer of due) this.#waiting.delete(timer)
    for (const { task } of due) task()
  }
}

export interface TestEnvironment extends EngineEnvironment {
  clock: HandClock
  timers: HandTimers
  warnings: string[]
}

/** A method of the store that the test did not expect is a failure. */
export function testEnvironment(store: Partial<DeliveryStore>): TestEnvironment {
  const timers = new HandTimers()
  const warnings: string[] = []
  const clock = new HandClock()
  return {
    clock,
    cautiousMs: () => clock.monotonicMs(),
    timers,
    warnings,
    random: () => 0.5,
    setTimer: (ms, task) => timers.set(ms, task),
    store: new Proxy(store as DeliveryStore, {
      get(target, name) {
        const method = Reflect.get(target, name)
        if (method === undefined) throw new Error(`the store was asked to ${String(name)}`)
        return method
      },
    }),
    send: () => Promise.reject(new Error('nothing is sent here')),
    signers: () => Promise.reject(new Error('nothing is signed here')),
    log: { info() {}, warn: (_fields, message) => warnings.push(message) },
    documentLink: async ({ eventId }) => `https://paybell.test/documents/${eventId}`,
    onAttempt() {},
  }
}

/** Resolves after one iteration of the event loop: what waited for nothing else has then been done. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** All that an engine of a test is set to, but how many attempts it makes at once. */
export function engineOptions({ inFlightMax, slots }: { inFlightMax: number; slots: number }) {
  return {
    policies: {
      retry: retryPolicy(),
      circuit: circuitPolicy(),
      patienceMs: 3_600_000,
      disableAfterMs: 1e9,
    },
    leases: LEASE_POLICY,
    lanes: {
      policy: { inFlightMax, ratePerSecond: null },
      slots,
      perLaneMax: 100,
      perBrokenLaneMax: 10,
      unprovenMax: 100_000,
      lanesMax: 100,
      keepMsMax: 30_000,
    },
    payloads: { cacheBytesMax: 1_000, fileBytesMax: 1_000 },
    dueReader: DUE_READER_LIMITS,
    changes: CHANGE_WATCH_LIMITS,
    pollEveryMs: 1_000,
    slowCheckEveryMs: 250,
    maintainEveryMs: 60_000,
    onDatabaseTime() {},
  } satisfies EngineOptions
}

/** As the store reads it, for an endpoint that gets what it is owed. */
export function activeEndpoint({ clientKey, endpointId }: EndpointKey): SendingEndpoint {
  return {
    clientKey,
    id: endpointId,
    shard: 1,
    url: 'https://receiver.test/hook',
    isActive: true,
    retriedAtMs: 0,
    settings: DEFAULT_SETTINGS,
    secrets: {
      keys: { current: createSecretKey(Buffer.from('key')), previous: null },
      extraHeader: null,
      oauth2: null,
    },
  }
}
