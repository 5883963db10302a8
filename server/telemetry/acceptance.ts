// Telemetry of accepting payment changes: each transaction is counted and traced, and each event gets one
// line in the log. The accepting itself is operations/accepting/record-payments.

import type { Logger } from 'pino'
import type { EventKind } from '../core/payments/payment.ts'
import {
  GATHERER_LIMITS,
  PaymentGatherer,
  type Submitter,
} from '../operations/accepting/payment-gatherer.ts'
import { type HoldLimits, holdLimits } from '../operations/accepting/payment-holds.ts'
import { recordingOn } from '../operations/accepting/postgres-payment-store.ts'
import {
  acceptPayments,
  type Locking,
  type PaymentChange,
  type RecordedChanges,
  type RecordingDeps,
  type RecordResult,
} from '../operations/accepting/record-payments.ts'
import type { AccountDirectory } from '../operations/access/account-directory.ts'
import type { ClientMoves } from '../operations/access/move-checks.ts'
import type { Deps } from '../operations/shared/deps.ts'
import type { LiveStream } from './live-stream.ts'
import type { Metrics } from './metrics.ts'
import type { Tracing } from './tracing.ts'
import type { WriteWatch } from './write-watch.ts'

export interface AcceptanceParts {
  accounts: AccountDirectory
  moves: ClientMoves
  metrics: Metrics
  logger: Logger
  tracing: Tracing | null
  writes: WriteWatch
  /** Asked first whether it has readers: most of the time it has none. */
  stream?: Pick<LiveStream, 'isWatched' | 'accepted'>
}

export function createGatherer(deps: Deps, parts: AcceptanceParts): PaymentGatherer {
  const recording = recordingOn(deps, parts.accounts, parts.moves)
  const record = (changes: readonly PaymentChange[], locking: Locking) =>
    noteWrite(parts.writes, recordWatched(deps, recording, parts, changes, locking))
  const holds = holdLimits(deps.config.databaseConnections)
  return parts.tracing === null
    ? new PaymentGatherer(record, GATHERER_LIMITS, holds)
    : new TracedGatherer(record, holds, parts.tracing)
}

/** A transaction that had nothing to write is no evidence that writes work. */
async function noteWrite(
  writes: WriteWatch,
  recording: Promise<readonly RecordResult[]>,
): Promise<readonly RecordResult[]> {
  try {
    const results = await recording
    if (results.some((result) => 'event' in result && result.event !== null)) {
      writes.succeeded('payments')
    }
    return results
  } catch (error) {
    writes.failed('payments', error)
    throw error
  }
}

class TracedGatherer extends PaymentGatherer {
  readonly #tracing: Tracing

  constructor(
    record: ConstructorParameters<typeof PaymentGatherer>[0],
    holds: HoldLimits,
    tracing: Tracing,
  ) {
    super(record, GATHERER_LIMITS, holds)
    this.#tracing = tracing
  }

  override enter(change: PaymentChange, submitter: Submitter): void {
    this.#tracing.noteRequest(change)
    super.enter(change, submitter)
  }
}

async function recordWatched(
  { engine, clock }: Deps,
  recording: RecordingDeps,
  { metrics, logger, tracing, stream }: AcceptanceParts,
  changes: readonly PaymentChange[],
  locking: Locking,
): Promise<readonly RecordResult[]> {
  const accept = () => acceptPayments(recording, engine, changes, locking)
  metrics.countBatch(changes.length)
  const accepted = await (tracing === null ? accept() : tracing.accept(changes, accept))
  const { results, deliveries } = accepted
  metrics.countCreated(deliveries.length)
  for (const result of results) {
    if ('event' in result && result.event !== null) metrics.countEvent(result.event.kind)
  }
  // Thousands a second: the lines are not built when the level is off.
  if (logger.isLevelEnabled('info')) {
    for (const line of acceptedEvents(changes, accepted)) logger.info(line, 'event.accepted')
  }
  if (stream?.isWatched) {
    const at = new Date(clock.nowMs()).toISOString()
    for (const { kind, ...event } of acceptedEvents(changes, accepted)) {
      stream.accepted({ ...event, event: kind, at })
    }
  }
  return results
}

interface Accepted {
  eventId: string
  paymentId: string
  accountId: string
  kind: EventKind
  sequence: number
  deliveries: number
}

function* acceptedEvents(
  changes: readonly PaymentChange[],
  { results, deliveries }: RecordedChanges,
): Generator<Accepted> {
  const counts = new Map<string, number>()
  for (const { eventId } of deliveries) counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
  for (const [index, result] of results.entries()) {
    if (!('event' in result) || result.event === null) continue
    const { accountId, write } = changes[index] as PaymentChange
    const { id, kind, sequence } = result.event
    yield {
      eventId: id,
      paymentId: write.id,
      accountId,
      kind,
      sequence,
      deliveries: counts.get(id) ?? 0,
    }
  }
}
