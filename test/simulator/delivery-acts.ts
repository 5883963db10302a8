// What owners ask of what an endpoint is owed, or was: one delivery replayed, retried or cancelled, all updates of a
// payment recovered, all that is owed retried.

import type { Ask } from './asking.ts'
import type { Counters } from './counters.ts'
import type { Dice } from './dice.ts'
import type { SimulatedNode } from './node.ts'
import type { ActPlan } from './plan.ts'
import {
  type EndpointAct,
  isInFlight,
  type ReceivedRequest,
  type ReplayAct,
  type RetryAct,
} from './records.ts'
import type { Scheduler } from './scheduler.ts'
import type { Twin } from './twin.ts'
import { cancelDelivery } from './twin-cancellations.ts'
import { replayDelivery } from './twin-replays.ts'
import { retryDelivery, retryEndpoint } from './twin-retries.ts'
import { type FinalRow, type PendingRow, pendingOf, whole } from './twin-tables.ts'

export const CLIENT_KEY = 1

const DELIVERY_ACTS = ['replay', 'recover', 'retry', 'retry-endpoint', 'cancel'] as const
type DeliveryActKind = (typeof DELIVERY_ACTS)[number]

export function isDeliveryAct(kind: ActPlan['kind']): kind is DeliveryActKind {
  return (DELIVERY_ACTS as readonly string[]).includes(kind)
}

export interface DeliveryActsWorld {
  scheduler: Scheduler
  twin: Twin
  dice: Dice
  counters: Counters
  nodes: readonly SimulatedNode[]
  requests: readonly ReceivedRequest[]
}

type Note = (
  endpointId: string,
  kind: EndpointAct['kind'],
  askedAtMs: number,
  node: string,
) => EndpointAct

export class DeliveryActs {
  readonly replays: ReplayAct[] = []
  readonly retries: RetryAct[] = []
  readonly #world: DeliveryActsWorld
  readonly #note: Note
  #recoveries = 0

  constructor(world: DeliveryActsWorld, note: Note) {
    this.#world = world
    this.#note = note
  }

  do(ask: Ask, kind: DeliveryActKind, endpointId: string): void {
    if (kind === 'replay') this.#replay(ask, endpointId)
    else if (kind === 'recover') this.#recover(ask, endpointId)
    else if (kind === 'cancel') this.#cancel(ask, endpointId)
    else this.#retry(ask, endpointId, kind === 'retry')
  }

  #replay(ask: Ask, endpointId: string): void {
    const { dice } = this.#world
    const candidates = this.#replayable(endpointId)
    if (candidates.length === 0) ask.drop()
    else this.#replayAll(ask, [dice.pick(candidates)], null)
  }

  /** All that ended of one payment, oldest first, as a job does it: in two transactions, one soon after the other. */
  #recover(ask: Ask, endpointId: string): void {
    const { dice } = this.#world
    const candidates = this.#replayable(endpointId)
    if (candidates.length === 0) {
      ask.drop()
      return
    }
    const { paymentId } = dice.pick(candidates)
    const ended = candidates
      .filter((row) => row.paymentId === paymentId)
      .sort((one, other) => one.sequence - other.sequence)
    if (ended.length > 1) this.#world.counters.count('recovery of several updates')
    this.#replayAll(ask, ended, ++this.#recoveries)
  }

  /** What was cancelled is left out, here and when the act is done: its attempt that may have been under way keeps its
   *  number, and has no row. */
  #replayable(endpointId: string): FinalRow[] {
    const rows = [...this.#world.twin.tables.final.values()]
    return rows.filter((row) => row.endpointId === endpointId && row.state !== 'CANCELLED')
  }

  #replayAll(ask: Ask, rows: readonly FinalRow[], recovery: number | null): void {
    const { twin, scheduler, counters } = this.#world
    const half = Math.ceil(rows.length / 2)
    const chunks = [rows.slice(0, half), rows.slice(half)].filter((chunk) => chunk.length > 0)
    ask.repeat(
      async (node) => {
        for (const chunk of chunks) {
          const nowMs = node.nowMs()
          await node.transact('replay', () => {
            for (const { id } of chunk) {
              if (twin.tables.final.get(id)?.state === 'CANCELLED') continue
              const again = replayDelivery(twin, id, nowMs)
              if (again === null) continue
              counters.count('replay')
              const attemptsBefore = again.attempts
              const atMs = scheduler.nowMs
              this.replays.push({ deliveryId: id, atMs, attemptsBefore, recovery })
            }
          })
        }
      },
      () => {},
    )
  }

  /** One delivery that is pending by then, or all that the endpoint is owed. */
  #retry(ask: Ask, endpointId: string, isOfOne: boolean): void {
    const { twin, scheduler } = this.#world
    const picked = this.#pickOwed(ask, endpointId)
    if (picked === null) return
    const { id, paymentId } = picked
    const askedAtMs = scheduler.nowMs
    ask.repeat(
      async (node) => {
        const nowMs = node.nowMs()
        const readAtMs = scheduler.nowMs
        await node.transact('retry', () => {
          const wasOpen = twin.tables.health.get(endpointId)?.circuit === 'OPEN'
          const owed = isOfOne
            ? retryDelivery(twin, id, nowMs)
            : retryEndpoint(twin, endpointId, nowMs)
          if (owed === null) return
          this.#countRetry(endpointId, wasOpen)
          this.#note(endpointId, 'retry', askedAtMs, node.name).writtenMs = whole(nowMs)
          this.#expect(endpointId, isOfOne ? paymentId : null, owed, readAtMs)
        })
        const endpoint = twin.tables.endpoints.get(endpointId)
        if (endpoint) node.engine?.endpointRetried(CLIENT_KEY, endpointId, endpoint.shard, nowMs)
      },
      () => {},
    )
  }

  #cancel(ask: Ask, endpointId: string): void {
    const { twin, scheduler } = this.#world
    const picked = this.#pickOwed(ask, endpointId)
    if (picked === null) return
    const { id, paymentId } = picked
    const askedAtMs = scheduler.nowMs
    ask.repeat(
      async (node) => {
        const nowMs = node.nowMs()
        await node.transact('cancel', () => {
          const row = twin.tables.pending.get(id)
          const released = cancelDelivery(twin, id, nowMs)
          if (row === undefined || released === null) return
          this.#note(endpointId, 'cancel', askedAtMs, node.name).writtenMs = whole(nowMs)
          this.#world.counters.count('cancel')
          const rest = strandOf(twin, row)
          // Unless it is down, and probed when its time has come, or is not active.
          const isDown = (twin.tables.health.get(endpointId)?.circuit ?? 'CLOSED') !== 'CLOSED'
          const isInactive =
            (twin.tables.endpoints.get(endpointId)?.inactiveSinceMs ?? null) !== null
          if (isDown || isInactive || !hasNothingToWaitFor(row, rest)) return
          this.#world.counters.count('cancel of what holds others back')
          this.#expect(endpointId, paymentId, rest)
        })
        const endpoint = twin.tables.endpoints.get(endpointId)
        if (endpoint) node.engine?.endpointChanged(CLIENT_KEY, endpointId, endpoint.shard)
      },
      () => {},
    )
  }

  /** One delivery that is pending now. Null where none is: there is nothing to ask for. */
  #pickOwed(ask: Ask, endpointId: string): PendingRow | null {
    const { twin, dice } = this.#world
    const candidates = pendingOf(twin, CLIENT_KEY, endpointId)
    if (candidates.length > 0) return dice.pick(candidates)
    ask.drop()
    return null
  }

  /** An attempt has to follow: since then, or since now. */
  #expect(
    endpointId: string,
    paymentId: string | null,
    rows: readonly PendingRow[],
    sinceMs = this.#world.scheduler.nowMs,
  ): void {
    const atMs = this.#world.scheduler.nowMs
    this.retries.push({ endpointId, paymentId, sinceMs, atMs, owed: rows.map((row) => row.id) })
  }

  #countRetry(endpointId: string, wasOpen: boolean): void {
    const { counters } = this.#world
    counters.count('retry')
    if (wasOpen) counters.count('retry of an endpoint that is down')
    if (isMet(this.#world, endpointId)) counters.count('retry during an attempt')
  }
}

function strandOf(twin: Twin, { clientKey, endpointId, paymentId }: PendingRow): PendingRow[] {
  const owed = pendingOf(twin, clientKey, endpointId)
  return owed.filter((row) => row.paymentId === paymentId && !row.isReplay)
}

/** It was the oldest, and none after it was tried; or it was tried, and had gone ahead of all others. */
function hasNothingToWaitFor(
  { sequence, attempts, isReplay }: PendingRow,
  rest: readonly PendingRow[],
): boolean {
  const isFirst = rest.every((row) => row.sequence > sequence && row.attempts === 0)
  const isAhead = attempts > 0 && rest.every((row) => row.sequence < sequence)
  return !isReplay && rest.length > 0 && (isFirst || isAhead)
}

/** An attempt at the endpoint is under way. */
export function isMet({ requests, nodes, scheduler }: DeliveryActsWorld, id: string): boolean {
  return requests.some(
    (request) =>
      request.endpointId === id &&
      nodes.some(({ name }) => isInFlight(request, name, scheduler.nowMs)),
  )
}
