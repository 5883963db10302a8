// Drives a receiver through the list of core/checking/receiver-check-items, one POST after the other, within a minute,
// up to the first callback that must be taken and is not: no caller can have more than one POST sent to a
// host that does not want them, or two where a 401 to the first is answered with a new token. Clock, dice and network are
// handed in: the service runs the list through its guarded client, the command line from the caller's own machine.

import type { KeyObject } from 'node:crypto'
import { isSuccess } from '../delivery/delivery.ts'
import type { Clock } from '../plain/clock.ts'
import type { SigningPair } from '../signatures/asymmetric-signature.ts'
import type { SigningKeys } from '../signatures/callback-headers.ts'
import {
  type Answered,
  type CheckedStep,
  type CheckReport,
  judge,
  notRun,
  toReport,
} from './receiver-check.ts'
import { CHECK_ITEMS } from './receiver-check-items.ts'
import type { CheckPost } from './receiver-check-posts.ts'

export interface CheckTarget {
  url: string
  keys: SigningKeys
  extraHeader: readonly [string, string] | null
  /** The service's own keys, where the endpoint asks for their signature. */
  signers?: readonly SigningPair[]
  hmacHeaderName?: string | undefined
}

export interface CheckTools {
  clock: Clock
  newId(): string
  /** A key that the receiver does not have. */
  strangeKey: KeyObject
  /** To the target, with the pauses of the post. */
  send(post: CheckPost, expectsRefusal: boolean): Promise<Answered>
}

/** An attempt ends within 15 seconds, so that a check which begins none later ends within 60. */
const LAST_START_MS = 44_000

const NOT_TAKEN =
  'Not run, because a valid callback was not answered with 200. Fix that, then check again.'

export async function runReceiverCheck(
  tools: CheckTools,
  target: CheckTarget,
): Promise<CheckReport> {
  const { clock, strangeKey, newId } = tools
  const startedAtMs = clock.nowMs()
  const startedAt = clock.monotonicMs()
  const steps: CheckedStep[] = []
  let isOver = false
  for (const item of CHECK_ITEMS) {
    if (isOver) {
      steps.push(notRun(item, NOT_TAKEN))
      continue
    }
    const posts = item.posts({ ...target, strangeKey, nowMs: clock.nowMs(), newId })
    const answers: Answered[] = []
    for (const post of posts) {
      if (isOver || clock.monotonicMs() - startedAt > LAST_START_MS) break
      const answer = await tools.send(post, item.expects === 'refusal')
      answers.push(answer)
      isOver = item.expects === '200' && !isSuccess(answer.outcome)
    }
    steps.push(
      isOver || answers.length === posts.length
        ? judge(item, answers, posts.length)
        : notRun(item, 'Not run, because the receiver was slow and the minute was over.'),
    )
  }
  const durationMs = clock.monotonicMs() - startedAt
  return toReport({ url: target.url, startedAtMs, durationMs }, steps)
}
