// One layer of lines, sent until every line is either recorded or refused for good. What says "not
// now" (429, 503, a cut connection, a busy line among good ones) is sent again, after the time that
// the service asks for; nothing of a later layer goes before.

import { setTimeout as delay } from 'node:timers/promises'
import type { WrittenLine } from '../../sdk/src/internal/operator-types.ts'
import { isPassing, isSettled, readAnswers } from '../../sdk/src/operating/batch-answers.ts'
import { PaybellError } from '../../sdk/src/plain/errors.ts'
import type { Problem } from '../../sdk/src/wire/types.ts'
import { type Api, UnreachableError } from '../basics/api.ts'
import type { InputLine } from './lines.ts'

export interface LineOutcome {
  line: number
  id: string | null
  kind: 'event' | 'unchanged' | 'bad'
  problem?: Partial<Problem>
}

export interface SendPolicy {
  /** How long the service may be away before the import gives up. */
  patienceMs: number
  /** Called once for each wait. */
  onWait: (seconds: number, why: string) => void
  signal: AbortSignal
  /** Has the service answered this process? Until then an address where nothing listens is a mistake. */
  hasAnswered: () => boolean
}

const REQUEST_TIMEOUT_MS = 300_000
const WAIT_SECONDS_MAX = 60

const TOO_LONG = {
  title: 'The line is too long',
  status: 413,
  code: 'body-too-large',
  detail: 'The line is longer than any payment can be.',
} as const

export class Interrupted extends Error {}

export async function sendLines(
  api: Api,
  lines: readonly InputLine[],
  policy: SendPolicy,
): Promise<readonly LineOutcome[]> {
  const outcomes: LineOutcome[] = lines
    .filter(({ bytes }) => bytes === null)
    .map(({ number }) => ({ line: number, id: null, kind: 'bad', problem: TOO_LONG }))
  let owed = lines.filter(({ bytes }) => bytes !== null)
  let failingSinceMs: number | null = null
  for (let sendings = 1; owed.length > 0; sendings++) {
    const { answers, failure } = await send(api, owed, policy, sendings)
    const left = failure ? owed : take(owed, answers, outcomes, sendings)
    if (left.length < owed.length) failingSinceMs = null
    owed = left
    if (owed.length === 0) break
    failingSinceMs ??= performance.now()
    const seconds = Math.min(
      failure?.retryAfterSeconds ?? 2 ** Math.min(sendings - 1, 5),
      WAIT_SECONDS_MAX,
    )
    if (performance.now() - failingSinceMs + seconds * 1_000 > policy.patienceMs) {
      throw failure?.error ?? new Error('the service is too busy to take the lines')
    }
    policy.onWait(seconds, failure?.why ?? 'the service is busy')
    await delay(seconds * 1_000, undefined, { signal: policy.signal }).catch(() => {
      throw new Interrupted()
    })
  }
  return outcomes.sort((a, b) => a.line - b.line)
}

interface Failure {
  error: Error
  why: string
  retryAfterSeconds?: number | undefined
}

async function send(
  api: Api,
  lines: readonly InputLine[],
  policy: SendPolicy,
  sendings: number,
): Promise<{ answers: ReadonlyMap<number, WrittenLine>; failure: Failure | null }> {
  try {
    const answer = await api.call('POST', '/operator/v1/payments/batch', {
      headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' },
      content: toBody(lines),
      timeoutMs: REQUEST_TIMEOUT_MS,
    })
    return { answers: readAnswers(answer.text), failure: null }
  } catch (error) {
    if (error instanceof UnreachableError) {
      if (!policy.hasAnswered()) throw error
      return { answers: new Map(), failure: { error, why: error.message } }
    }
    if (!(error instanceof PaybellError) || !isPassing(error.status, sendings)) throw error
    const why = error.problem?.title ?? `it answered ${error.status}`
    const { retryAfterSeconds } = error
    return { answers: new Map(), failure: { error, why, retryAfterSeconds } }
  }
}

function toBody(lines: readonly InputLine[]): Uint8Array<ArrayBuffer> {
  const size = lines.reduce((sum, { bytes }) => sum + (bytes as Uint8Array).length + 1, 0)
  const body = Buffer.alloc(size, '\n')
  let at = 0
  for (const { bytes } of lines) {
    body.set(bytes as Uint8Array, at)
    at += (bytes as Uint8Array).length + 1
  }
  return body
}

/** Moves what is settled to the outcomes, and returns what has to be sent again. */
function take(
  lines: readonly InputLine[],
  answers: ReadonlyMap<number, WrittenLine>,
  outcomes: LineOutcome[],
  sendings: number,
): InputLine[] {
  return lines.filter(({ number }, index) => {
    const answer = answers.get(index + 1)
    if (!isSettled(answer, sendings)) return true
    const { id, problem, event } = answer
    if (problem) outcomes.push({ line: number, id, kind: 'bad', problem })
    else outcomes.push({ line: number, id, kind: event ? 'event' : 'unchanged' })
    return false
  })
}
