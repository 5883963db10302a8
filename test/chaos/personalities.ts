// How receivers behave, by the first word of their path: /flaky/3 is flaky. What one does depends on the
// seed, the event and the request's number alone, so that a seed means the same behaviour again.

import { createHash } from 'node:crypto'
import { Dice } from '../simulator/dice.ts'

export type Answer =
  | { kind: 'answer'; status: number; afterMs: number; retryAfter?: string }
  | { kind: 'hang' | 'reset' }
  /** Reports the request to the parent, which decides when to go on: it kills the sender first. */
  | { kind: 'tell' }

export interface Asked {
  path: string
  webhookId: string
  sequence: number
  /** How many requests this event has made here, this one included. */
  request: number
  /** Since the receivers began. */
  atMs: number
}

const OK: Answer = { kind: 'answer', status: 200, afterMs: 0 }

const PERSONALITIES: Record<string, (asked: Asked, dice: Dice) => Answer> = {
  steady: () => OK,
  slow: (_asked, dice) => ({ ...OK, afterMs: dice.between(30, 350) }),
  flaky(_asked, dice) {
    if (dice.chance(0.05)) return { kind: 'reset' }
    if (dice.chance(0.03)) return { kind: 'hang' }
    const status = dice.chance(0.3) ? dice.pick([500, 404, 204, 302, 410]) : 200
    return { kind: 'answer', status, afterMs: dice.between(0, 40) }
  },
  /** A 200 after the deadline is none. */
  late: (_asked, dice) => ({ ...OK, afterMs: dice.chance(0.15) ? 700 : dice.between(0, 100) }),
  /** Some updates fail for longer than patience lasts: later ones overtake them. */
  stubborn: ({ sequence, request }, dice) =>
    sequence % 3 === 1 && request < 40 && dice.chance(0.97)
      ? { kind: 'answer', status: 500, afterMs: 0 }
      : OK,
  busy: (_asked, dice) =>
    dice.chance(0.3)
      ? { kind: 'answer', status: dice.pick([429, 503]), afterMs: 0, retryAfter: '1' }
      : OK,
  /** Away for 4 s of every 9. */
  tidal: ({ atMs }) => (atMs % 9_000 < 4_000 ? { kind: 'answer', status: 503, afterMs: 0 } : OK),
  dead: () => ({ kind: 'answer', status: 500, afterMs: 0 }),
  telling: () => ({ kind: 'tell' }),
}

export function answerOf(asked: Asked, seed: number): Answer {
  const word = asked.path.split('/')[1] ?? ''
  const personality = PERSONALITIES[word] ?? (() => OK)
  const digest = createHash('sha256').update(`${asked.path} ${asked.webhookId}`).digest()
  return personality(asked, new Dice(seed ^ digest.readInt32LE(0), asked.request))
}

/** The key that was the n-th of the endpoint at this path, counted from 0. */
export function keyOf(path: string, n: number): string {
  return `key ${n} of ${path}`
}
