// Receivers: seeded state machines that answer, fail, hang, reset, recover. They are the oracle: what
// they saw, and when, is what the checker relies on.

import { hash } from 'node:crypto'
import type { CallbackRequest } from '../../server/core/delivery/callback-request.ts'
import type { Dice } from './dice.ts'
import { bodySignature, standardSignature } from './key-ring.ts'
import type { ReceivedRequest } from './records.ts'

export type Mood =
  | 'ok'
  | 'failing'
  | 'odd'
  | 'busy'
  | 'hanging'
  | 'slow'
  | 'sluggish'
  | 'late'
  | 'lossy'
  | 'losing'
  | 'flaky'
  | 'refusing'

/** Those that seeds draw; the others are for worlds made by hand. */
export const MOODS: readonly Mood[] = [
  'ok',
  'failing',
  'odd',
  'busy',
  'hanging',
  'slow',
  'late',
  'lossy',
  'flaky',
  'refusing',
]

export interface Spell {
  fromMs: number
  mood: Mood
}

/** What comes back, how long after the request has arrived. */
export interface Reply {
  received: ReceivedRequest
  afterMs: number
  outcome:
    | { kind: 'answered'; status: number; retryAfter?: string }
    | { kind: 'unreachable'; reason: 'connection-reset' }
    | null
}

interface Answer {
  status: number | null
  afterMs: number
  retryAfter?: string
  isReset?: boolean
}

export class Receiver {
  readonly endpointId: string
  readonly requests: ReceivedRequest[]
  /** The names of the keys that its owner has ever registered, newest first. */
  keyNames: string[]
  #spells: readonly Spell[]
  readonly #dice: Dice

  constructor(
    endpointId: string,
    keyName: string,
    spells: readonly Spell[],
    requests: ReceivedRequest[],
    dice: Dice,
  ) {
    this.endpointId = endpointId
    this.keyNames = [keyName]
    this.#spells = spells
    this.requests = requests
    this.#dice = dice
  }

  /** From now on in this mood for good. */
  settle(mood: Mood): void {
    this.#spells = [{ fromMs: 0, mood }]
  }

  moodAt(sinceStartMs: number): Mood {
    return this.#spells.findLast((spell) => spell.fromMs <= sinceStartMs)?.mood ?? 'ok'
  }

  receive(
    request: CallbackRequest,
    from: { node: string; sentAtMs: number; nowMs: number; sinceStartMs: number },
  ): Reply {
    const header = (name: string) => {
      const at = request.headers.indexOf(name)
      return at < 0 ? undefined : (request.headers[at + 1] as string)
    }
    const body = request.body[0] as Uint8Array
    const answer = this.#answer(this.moodAt(from.sinceStartMs))
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
    const received: ReceivedRequest = {
      endpointId: this.endpointId,
      webhookId: header('webhook-id') ?? '',
      paymentId: /"id":"([^"]+)"/.exec(text)?.[1] ?? '',
      sequence: Number(header('X-Paybell-Sequence')),
      attempt: Number(header('X-Paybell-Attempt')),
      isReplay: header('X-Paybell-Replay') === 'true',
      bodyHash: hash('sha1', body),
      signedBy: this.#signedBy(header, body),
      node: from.node,
      sentAtMs: from.sentAtMs,
      startedAtMs: from.nowMs,
      status: answer.status,
      answeredAtMs: Number.isFinite(answer.afterMs) ? from.nowMs + answer.afterMs : null,
      wasAnswerHeard: false,
    }
    this.requests.push(received)
    return { received, afterMs: answer.afterMs, outcome: toOutcome(answer) }
  }

  #answer(mood: Mood): Answer {
    const dice = this.#dice
    const afterMs = dice.skewed(1, 200)
    switch (mood) {
      case 'ok':
        return { status: 200, afterMs }
      case 'failing':
        return { status: dice.pick([500, 500, 502, 404, 400]), afterMs }
      case 'odd':
        return { status: dice.pick([204, 201, 202, 301, 302, 410]), afterMs }
      case 'busy':
        return {
          status: dice.pick([429, 503]),
          afterMs,
          retryAfter: dice.pick(['1', '30', '120', '100000', '1000000000000', '-1', 'NaN']),
        }
      case 'hanging':
        return { status: null, afterMs: Number.POSITIVE_INFINITY }
      case 'slow':
        return { status: 200, afterMs: dice.between(1_000, 14_500) }
      case 'sluggish':
        return { status: 200, afterMs: dice.between(12_000, 14_500) }
      case 'late':
        return { status: 200, afterMs: dice.between(15_100, 20_000) }
      case 'lossy':
        return { status: 200, afterMs, isReset: dice.chance(0.5) }
      case 'losing':
        // It has taken the callback in; the sender never hears of it.
        return { status: 200, afterMs, isReset: true }
      case 'flaky':
        return this.#answer(dice.pick(['ok', 'failing', 'hanging', 'slow', 'ok', 'lossy']))
      case 'refusing':
        return { status: null, afterMs, isReset: true }
    }
  }

  #signedBy(header: (name: string) => string | undefined, body: Uint8Array): string[] | null {
    const id = header('webhook-id') ?? ''
    const timestamp = header('webhook-timestamp') ?? ''
    const plain = [header('X-Paybell-Hmac'), header('X-Paybell-Hmac-Previous')]
    const standard = (header('webhook-signature') ?? '').split(' ')
    const names: string[] = []
    for (const [index, signature] of plain.entries()) {
      if (signature === undefined) continue
      const name = this.keyNames.find((key) => bodySignature(key, body) === signature)
      if (name === undefined) return null
      if (standard[index] !== standardSignature(name, id, timestamp, body)) return null
      names.push(name)
    }
    return standard.length === names.length ? names : null
  }
}

function toOutcome({ status, isReset, retryAfter }: Answer): Reply['outcome'] {
  if (isReset) return { kind: 'unreachable', reason: 'connection-reset' }
  if (status === null) return null
  return retryAfter === undefined
    ? { kind: 'answered', status }
    : { kind: 'answered', status, retryAfter }
}
