// Lines of different payments in one request, sent until each is either recorded or refused for good. What says
// "not now" (429, 503, a cut connection, a busy line among good ones) goes again, after the time that the
// service asks for.

import type { Caller } from '../calling/caller.ts'
import { sleep, waitMs } from '../calling/transport.ts'
import { PaybellError } from '../plain/errors.ts'
import { concat } from '../plain/hmac.ts'
import type { Line } from '../plain/line-reader.ts'
import type { WrittenLine } from '../wire/operator-types.ts'
import { isPassing, isSettled, readAnswers } from './batch-answers.ts'

/** What became of one payment of a stream: an `event`, nothing (`event` is null), or a `problem`. */
export interface PutResult extends Omit<WrittenLine, 'line'> {
  /** Its number in the source, from 0. */
  index: number
}

export interface SendPolicy {
  signal?: AbortSignal | undefined
  /** How long no payment may be accepted before it gives up: 300,000 by default. */
  patienceMs: number
  /** For each request: 120,000 by default. */
  timeoutMs: number
  /** Called before each wait, with what the service or the network said. */
  onWait?: ((wait: { ms: number; reason: string }) => void) | undefined
  random: () => number
}

const WAIT_MS_MAX = 60_000
const NDJSON = 'application/x-ndjson'

/** Adds to `results` as they come, also when it throws afterwards. */
export async function sendLines(
  caller: Caller,
  lines: readonly Line[],
  results: Map<number, PutResult>,
  policy: SendPolicy,
): Promise<void> {
  let owed = lines
  let failingSinceMs: number | undefined
  for (let tries = 1; ; tries++) {
    const { answers, error } = await post(caller, owed, policy, tries)
    const left = take(owed, answers, results, tries)
    if (left.length === 0) return
    if (left.length < owed.length) {
      failingSinceMs = undefined
      tries = 1
    }
    owed = left
    failingSinceMs ??= Date.now()
    const ms = Math.min(waitMs(error?.retryAfterSeconds, tries, policy.random), WAIT_MS_MAX)
    if (Date.now() - failingSinceMs + ms > policy.patienceMs) throw error ?? busy(answers, owed)
    policy.onWait?.({ ms, reason: error?.message ?? 'The service is busy.' })
    await sleep(ms, policy.signal)
  }
}

async function post(
  caller: Caller,
  lines: readonly Line[],
  { signal, timeoutMs }: SendPolicy,
  tries: number,
): Promise<{ answers: ReadonlyMap<number, WrittenLine>; error?: PaybellError }> {
  try {
    const { bytes } = await caller.request('POST', '/operator/v1/payments/batch', {
      headers: { 'content-type': NDJSON, accept: NDJSON },
      content: concat(lines.map((line) => line.bytes)),
      signal,
      timeoutMs,
    })
    return { answers: readAnswers(new TextDecoder().decode(bytes)) }
  } catch (error) {
    if (!(error instanceof PaybellError) || !isPassing(error.status, tries)) throw error
    return { answers: new Map(), error }
  }
}

/** Settles what is settled, and returns the rest. */
function take(
  lines: readonly Line[],
  answers: ReadonlyMap<number, WrittenLine>,
  results: Map<number, PutResult>,
  tries: number,
): Line[] {
  return lines.filter(({ index }, at) => {
    const answer = answers.get(at + 1)
    if (!isSettled(answer, tries)) return true
    const { line: _, ...result } = answer
    results.set(index, { index, ...result })
    return false
  })
}

function busy(answers: ReadonlyMap<number, WrittenLine>, owed: readonly Line[]): PaybellError {
  const problem = [...answers.values()].find((answer) => answer.problem)?.problem
  return problem
    ? new PaybellError(`${problem.detail} (${problem.status} ${problem.code})`, {
        ...problem,
        problem,
      })
    : new PaybellError(`The answer lacks ${owed.length} lines. Check what stands in between.`, {
        code: 'unexpected-answer',
        status: 200,
      })
}
