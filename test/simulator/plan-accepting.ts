// What a seed stands for on the accepting side: payments that others hold, writes that the database refuses,
// several callers with the same write, and gatherers that have little room. Its own dice: the rest of the
// plan is the same without it.

import { Dice } from './dice.ts'
import type { AcceptingLimits } from './node-world.ts'
import type { Subject } from './subject.ts'

export interface WritePlan {
  afterMs: number
  payment: number
  version: number
  /** What it says; two versions that say the same make one event. The database refuses one kind. */
  content: number | 'refused'
  copies: number
}

/** A company's own transaction holds a payment. */
export interface LockPlan {
  afterMs: number
  payment: number
  lengthMs: number
}

export interface AcceptingPlan {
  writes: readonly WritePlan[]
  locks: readonly LockPlan[]
  accepting: AcceptingLimits
  /** Writes change the state to and fro, so that events are of several kinds. */
  hasKinds?: boolean
}

export function drawAccepting(
  seed: number,
  subject: Subject,
  drawn: readonly WritePlan[],
): AcceptingPlan {
  const dice = new Dice(seed, 3)
  const isCrowded = dice.chance(0.3)
  const writes = drawn.map((write) => ({
    ...write,
    copies: isCrowded ? write.copies + dice.whole(0, 3) : write.copies,
  }))
  if (dice.chance(0.1)) writes.push(...drawRefused(dice, writes))
  const locks = dice.chance(0.3) ? drawLocks(dice, writes) : []
  return { writes, locks, accepting: drawLimits(dice, subject) }
}

/** Of a payment of its own, at the moment of another write: both travel together. */
function drawRefused(dice: Dice, writes: readonly WritePlan[]): WritePlan[] {
  const payment = Math.max(...writes.map((write) => write.payment)) + 1
  const { afterMs } = dice.pick(writes)
  return [{ afterMs, payment, version: 1, content: 'refused', copies: 1 }]
}

/** From a little before a write on, so that the write meets it. */
function drawLocks(dice: Dice, writes: readonly WritePlan[]): LockPlan[] {
  return Array.from({ length: dice.whole(1, 3) }, () => {
    const { afterMs, payment } = dice.pick(writes)
    const lengthMs = dice.skewed(20, 20_000)
    return { afterMs: Math.max(0, afterMs - dice.between(0, lengthMs)), payment, lengthMs }
  })
}

function drawLimits(dice: Dice, subject: Subject): AcceptingLimits {
  const gatherer = { ...subject.GATHERER_LIMITS }
  const holds = { ...subject.HOLD_LIMITS }
  if (!dice.chance(0.4)) return { gatherer, holds }
  return {
    gatherer: {
      ...gatherer,
      changesPerFlushMax: dice.pick([1, 2, 500]),
      flushesMax: dice.whole(1, 2),
      waitingMax: dice.pick([2, 20_000]),
    },
    holds: {
      ...holds,
      waitsMax: dice.pick([0, 1]),
      paymentsMax: dice.pick([1, 500]),
      changesPerPaymentMax: dice.pick([1, 2, 100]),
    },
  }
}
