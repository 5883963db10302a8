// One round of lines, sent until every line is either recorded or refused for good. What says "not
// now" (429, 503, a cut connection, a busy line among good ones) is sent again, after the time that
// the service asks for; nothing of a later round goes before.

import { setTimeout as delay } from 'node:timers/promises'
import { PaybellError } from '../../sdk/src/errors.ts'
import type { WrittenLine } from '../../sdk/src/internal/operator-types.ts'
import type { Problem } from '../../sdk/src/types.ts'
import { type Api, UnreachableError } from '../api.ts'
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

const NOT_NOW = new Set([
  'database-away',
  'overloaded',
  'not-ready',
  'too-many-requests',
  'cell-away',
])
/** A 5xx of the service may pass, but is not retried more than a few times. */
const INTERNAL_TRIES = 3
const REQUEST_TIMEOUT_MS = 300_000
const WAIT_SECONDS_MAX = 60

const TOO_LONG = {
  title: 'The line is too long',
  status: 413,
  code: 'body-too-large',
  detail: 'The line is longer than any payment can be.',
} as const

export class Interrupted extends Error {}

export async function sendRound(
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
): Promise<{ answers: readonly WrittenLine[]; failure: Failure | null }> {
  try {
    const answer = await api.call('POST', '/operator/v1/payments/batch', {
      headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' },
      content: toBody(lines),
      timeoutMs: REQUEST_TIMEOUT_MS,
    })
    return { answers: readAnswers(answer.text), failure: null }
  } catch (error) {
    if (error instanceof UnreachableError && policy.hasAnswered()) {
      return { answers: [], failure: { error, why: error.message } }
    }
    if (!(error instanceof PaybellError) || !isPassing(error, sendings)) throw error
    const why = error.problem?.title ?? `it answered ${error.status}`
    const { retryAfterSeconds } = error
    return { answers: [], failure: { error, why, retryAfterSeconds } }
  }
}

/** The service is busy, or failed in a way that may pass. */
function isPassing({ status }: PaybellError, sendings: number): boolean {
  if (status === 429 || status === 408 || status === 503) return true
  return status >= 500 && sendings < INTERNAL_TRIES
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

/** An answer that was cut short has fewer lines: the others are still owed, and repeating them is harmless. */
function readAnswers(text: string): WrittenLine[] {
  const answers: WrittenLine[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      answers.push(JSON.parse(line))
    } catch {
      break
    }
  }
  return answers
}

/** Moves what is settled to the outcomes, and returns what has to be sent again. */
function take(
  lines: readonly InputLine[],
  answers: readonly WrittenLine[],
  outcomes: LineOutcome[],
  sendings: number,
): InputLine[] {
  const byLine = new Map(answers.map((answer) => [answer.line, answer]))
  return lines.filter((line, index) => {
    const answer = byLine.get(index + 1)
    if (answer === undefined) return true
    const { id, problem } = answer
    if (problem === undefined) {
      outcomes.push({ line: line.number, id, kind: answer.event ? 'event' : 'unchanged' })
      return false
    }
    const { code } = problem
    if (NOT_NOW.has(code) || (code === 'internal' && sendings < INTERNAL_TRIES)) return true
    outcomes.push({ line: line.number, id, kind: 'bad', problem })
    return false
  })
}
