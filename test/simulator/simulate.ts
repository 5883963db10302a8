// One seed in, its verdict out.

import { check } from './checker.ts'
import { Counters } from './counters.ts'
import { forbidTheWorld } from './forbidden.ts'
import { drawPlan, type Plan } from './plan.ts'
import type { ReceivedRequest, RunRecord, Violation } from './records.ts'
import type { Subject } from './subject.ts'
import { type TimelineEntry, World, type WorldHooks } from './world.ts'

export interface Verdict {
  seed: number
  violations: Violation[]
  counters: Counters
  hash: string
  steps: number
  record: RunRecord
  plan: Plan
}

/** A promise without a handler: the engine promises that there is none. */
let stray: unknown = null

export async function simulate(
  seed: number,
  subject: Subject,
  hooks: WorldHooks & { plan?: Plan } = {},
): Promise<Verdict> {
  const plan = hooks.plan ?? drawPlan(seed, subject)
  const counters = new Counters()
  const onStray = (error: unknown) => {
    stray = error
  }
  stray = null
  process.on('unhandledRejection', onStray)
  const restore = forbidTheWorld()
  try {
    const world = new World(plan, subject, counters, hooks)
    const restoreShards = countDeclined(subject, counters)
    try {
      const record = await world.run()
      const violations = world.isSpinning ? [spinning(world)] : check(record)
      if (stray !== null) violations.push(strayViolation(stray))
      countSeen(record, counters)
      countUnheard(record, counters)
      const { hash, steps } = world.scheduler
      return { seed, violations, counters, hash, steps, record, plan }
    } finally {
      restoreShards()
    }
  } finally {
    restore()
    process.off('unhandledRejection', onStray)
  }
}

/** The same seed again, with everything that happened. */
export async function timelineOf(
  seed: number,
  subject: Subject,
): Promise<{ verdict: Verdict; timeline: TimelineEntry[] }> {
  const timeline: TimelineEntry[] = []
  const verdict = await simulate(seed, subject, { onTimeline: (entry) => timeline.push(entry) })
  return { verdict, timeline }
}

function spinning({ scheduler }: World): Violation {
  const detail = `a hot loop: ${scheduler.steps} events`
  return { invariant: 'I11', detail, endpointId: null, paymentId: null, atMs: scheduler.nowMs }
}

function strayViolation(error: unknown): Violation {
  const detail = `a rejection without a handler: ${String(error)}`
  return { invariant: 'stray', detail, endpointId: null, paymentId: null, atMs: null }
}

/** How often an attempt was not begun because its lease had no room for it. */
function countDeclined(subject: Subject, counters: Counters): () => void {
  const shards = subject.Shards.prototype
  const { maySend } = shards
  shards.maySend = function declining(this: typeof shards, shard: number): boolean {
    const may = maySend.call(this, shard)
    if (!may && this.holds(shard)) counters.count('send declined for want of lease')
    return may
  }
  return () => {
    shards.maySend = maySend
  }
}

function countSeen(record: RunRecord, counters: Counters): void {
  const accepted = new Map<string, number>()
  for (const request of record.requests) {
    counters.count('requests')
    if ((request.signedBy?.length ?? 0) > 1) counters.count('rotation overlap')
    if (request.status !== 200) continue
    const key = `${request.webhookId}/${request.endpointId}`
    const firstAtMs = accepted.get(key)
    if (firstAtMs === undefined) accepted.set(key, request.startedAtMs)
    else if (hasCrashed(record, firstAtMs, request.startedAtMs)) {
      counters.count('duplicate after crash')
    }
  }
}

/**
 * The receiver took in an update that had gone ahead of an older one, and the sender did not hear of it: if
 * the older one were sent now, the payment would go backwards.
 */
function countUnheard(record: RunRecord, counters: Counters): void {
  const finals = new Map(record.finals.map((final) => [final.deliveryId, final]))
  for (const request of record.requests) {
    if (request.status !== 200 || request.wasAnswerHeard || request.isReplay) continue
    const isAhead = record.deliveries.some(
      ({ id, endpointId, paymentId, sequence }) =>
        endpointId === request.endpointId &&
        paymentId === request.paymentId &&
        sequence < request.sequence &&
        (finals.get(id)?.atMs ?? Infinity) > request.startedAtMs,
    )
    if (isAhead)
      counters.count(`${isLate(request) ? 'late' : 'lost'} answer ahead of an older update`)
  }
  const passed = new Map(record.deliveries.map((delivery) => [delivery.id, delivery]))
  for (const { deliveryId, state, atMs } of record.finals) {
    const delivery = passed.get(deliveryId)
    const isPassed = record.requests.some(
      (request) =>
        request.endpointId === delivery?.endpointId &&
        request.paymentId === delivery.paymentId &&
        request.sequence > delivery.sequence &&
        request.startedAtMs < atMs,
    )
    if (state === 'EXHAUSTED' && isPassed) counters.count('exhausted after a newer update')
  }
}

function isLate({ answeredAtMs, sentAtMs }: ReceivedRequest): boolean {
  return (answeredAtMs ?? Infinity) - sentAtMs > 15_000
}

function hasCrashed(record: RunRecord, fromMs: number, untilMs: number): boolean {
  return record.faults.some(
    (fault) => fault.kind === 'crash' && fault.fromMs >= fromMs && fault.fromMs <= untilMs,
  )
}
